// SPDX-License-Identifier: Apache-2.0
#include "bench/torch.h"

#include "tutti/core/error.h"
#include "tutti/core/own_program.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tutti::bench {
namespace {

// Beside the program, where it was packed with them; else in the sources.
std::string script_path() {
  const std::filesystem::path packed =
      std::filesystem::path(own_program()).parent_path() / "peers" / "torch_steps.py";
  return std::filesystem::exists(packed) ? packed.string()
                                         : std::string(TUTTI_PEERS) + "/torch_steps.py";
}

bool processor_has(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags") && (line + " ").find(" " + flag + " ") != std::string::npos)
      return true;
  return false;
}

std::vector<Alternative> layouts(const Workload& workload) {
  if (workload.name == "mlp") return {{}};
  return {{}, {"channels last", {"channels_last"}}};
}

// Debian has OpenBLAS with threads of its own, which is the default, and with OpenMP's.
std::vector<Alternative> libraries(const Torch& torch) {
  const std::string folder = "/usr/lib/x86_64-linux-gnu/openblas-openmp";
  if (torch.description["mkl"].get<bool>() || !std::filesystem::exists(folder)) return {{}};
  return {{}, {"OpenBLAS with OpenMP", {}, {{"LD_LIBRARY_PATH", folder}}}};
}

// OpenBLAS takes processors that are younger than itself for very old ones.
std::vector<Alternative> processors(const Torch& torch) {
  std::vector<Alternative> all = {{}};
  if (torch.description["mkl"].get<bool>()) return all;
  std::vector<std::string> types;
  if (processor_has("avx2")) types.push_back("Haswell");
  if (processor_has("avx512f")) types.push_back("SkylakeX");
  if (processor_has("avx512_bf16")) types.push_back("Cooperlake");
  for (const std::string& type : types)
    all.push_back({"OPENBLAS_CORETYPE=" + type, {}, {{"OPENBLAS_CORETYPE", type}}});
  return all;
}

std::vector<Alternative> instructions(const Torch& torch) {
  if (torch.description["instructions"] == "AVX512" || !processor_has("avx512f")) return {{}};
  return {{}, {"ATEN_CPU_CAPABILITY=avx512", {}, {{"ATEN_CPU_CAPABILITY", "avx512"}}}};
}

// Policies of waiting and of binding together: threads that spin and move suffer more. An empty
// value leaves a variable unset.
std::vector<Alternative> openmp(int threads) {
  const std::vector<std::string> waits = threads > 1
                                             ? std::vector<std::string>{"", "active", "passive"}
                                             : std::vector<std::string>{""};
  std::vector<Alternative> all;
  for (const std::string& wait : waits)
    for (const char* bind : {"", "false", "true", "spread"}) {
      Alternative& one = all.emplace_back();
      one.environment = {{"OMP_WAIT_POLICY", wait}, {"OMP_PROC_BIND", bind}};
      for (const auto& [name, value] : one.environment)
        if (!value.empty())
          one.text += fmt::format("{}{}={}", one.text.empty() ? "" : " ", name, value);
    }
  return all;
}

// By itself the C library gives the memory of large tensors back and gets it anew, page by page.
std::vector<Alternative> memory() {
  const std::string keep = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736";
  return {{},
          {"freed memory is kept", {}, {{"GLIBC_TUNABLES", keep}}},
          {"freed memory is kept, huge pages",
           {},
           {{"GLIBC_TUNABLES", keep + ":glibc.malloc.hugetlb=1"}}}};
}

std::vector<Alternative> modes(const Torch& torch) {
  if (!torch.description["compiles"].get<bool>()) return {{}};
  return {{}, {"torch.compile", {"compiled"}}};
}

}  // namespace

Torch find_torch(const Options& options) {
  const std::vector<std::string> candidates =
      options.python.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"}
                             : std::vector<std::string>{options.python};
  for (const std::string& python : candidates) {
    Torch torch{python, script_path(), {}};
    try {
      torch.description = nlohmann::ordered_json::parse(
          Child("PyTorch", {python, torch.script, "describe"}).ask(""));
      torch.description["python"] = python;
      if (options.eager) torch.description["compiles"] = false;
      return torch;
    } catch (const Error&) {
      continue;  // no such Python, or no PyTorch in it
    }
  }
  throw Error(
      "no PyTorch was found by {}; ./dev deps peers installs Debian's, --python names another",
      fmt::join(candidates, ", "));
}

std::vector<std::vector<Alternative>> torch_settings(const Torch& torch, const Workload& workload,
                                                     int threads) {
  return {layouts(workload), libraries(torch), processors(torch), instructions(torch),
          openmp(threads),   memory(),         modes(torch)};
}

std::vector<std::size_t> torch_order(const std::vector<std::vector<Alternative>>& settings) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < settings.size(); ++k) order.push_back(k);
  order.insert(order.end(), {0, 1, 2});
  return order;
}

Child start_torch(const Torch& torch, const Workload& workload, const std::string& path,
                  int threads, const Way& way) {
  const std::string count = std::to_string(threads);
  std::vector<std::string> command = {torch.python, torch.script, workload.name, path, count};
  const std::vector<std::string> arguments = way.arguments();
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::map<std::string, std::string> environment = way.environment();
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    environment[name] = count;
  // The oneDNN of PyTorch 1 ends by an illegal instruction where it uses AMX.
  if (processor_has("amx_tile") && torch.description["torch"].get<std::string>().starts_with("1."))
    environment["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_BF16";
  return Child(fmt::format("PyTorch ({})", way.text()), command, environment);
}

}  // namespace tutti::bench
