// SPDX-License-Identifier: Apache-2.0
// The MPI library's own allreduce, started by mpirun: answers "ALGORITHM BYTES REPEATS" on rank 0's
// input with the seconds of one. Ranks that wait for the next line sleep, so that the other side of
// a comparison has the machine.
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

double run(int rank, int ranks, int count, int repeats) {
  std::vector<float> data(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    data[static_cast<std::size_t>(i)] = static_cast<float>(i % 61 + rank);
  const auto once = [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  };
  once();
  for (int i = 0; i < count; ++i)
    if (data[static_cast<std::size_t>(i)] !=
        static_cast<float>(ranks * (i % 61) + ranks * (ranks - 1) / 2)) {
      std::cerr << "MPI: sum " << i << " is " << data[static_cast<std::size_t>(i)] << "\n";
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  std::fill(data.begin(), data.end(), 0.0f);  // sums stay zero however often they are taken
  MPI_Barrier(MPI_COMM_WORLD);
  const auto began = std::chrono::steady_clock::now();
  for (int k = 0; k < repeats; ++k) once();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() / repeats;
}

struct Order {
  int count = 0, repeats = 0;  // 0: the end
};

Order receive() {
  for (int there = 0; there == 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
  Order order;
  MPI_Recv(&order, sizeof(order), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return order;
}

void give_all(const Order& order, int ranks) {
  for (int rank = 1; rank < ranks; ++rank)
    MPI_Send(&order, sizeof(order), MPI_BYTE, rank, 0, MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string algorithm;
      std::size_t bytes = 0;
      Order order;
      words >> algorithm >> bytes >> order.repeats;
      order.count = static_cast<int>(bytes / sizeof(float));
      give_all(order, ranks);
      std::cout << run(rank, ranks, order.count, order.repeats) << std::endl;
    }
    give_all({}, ranks);
  } else {
    for (Order order = receive(); order.repeats > 0; order = receive())
      run(rank, ranks, order.count, order.repeats);
  }
  MPI_Finalize();
}
