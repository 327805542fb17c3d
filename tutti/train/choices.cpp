// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/choices.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace tutti {
namespace {

int choices_tag(Communicator& communicator) {
  return communicator.tags().of({.what = "choices of variants"});
}

void send_text(const std::string& text, int peer, Communicator& communicator) {
  std::int64_t bytes = static_cast<std::int64_t>(text.size());
  Request length = communicator.send(&bytes, sizeof bytes, peer, choices_tag(communicator));
  wait(length, communicator);
  Request sent = communicator.send(text.data(), bytes, peer, choices_tag(communicator));
  wait(sent, communicator);
}

std::string receive_text(int peer, Communicator& communicator) {
  std::int64_t bytes = 0;
  Request length = communicator.receive(&bytes, sizeof bytes, peer, choices_tag(communicator));
  wait(length, communicator);
  std::string text(static_cast<std::size_t>(bytes), ' ');
  Request received = communicator.receive(text.data(), bytes, peer, choices_tag(communicator));
  wait(received, communicator);
  return text;
}

// One line for each choice: the variant, which has no blanks, and what it was chosen for.
std::string lines_of(const Choices::Variants& variants) {
  std::string lines;
  for (const auto& [key, variant] : variants) lines += variant + " " + key + "\n";
  return lines;
}

}  // namespace

Selection agreed(Selection selection, Communicator& communicator) {
  selection.choices = std::make_shared<Choices>();
  // By rule nothing was measured, and when measuring now every rank measures its own sizes.
  if (selection.mode != Selection::Mode::cache) return selection;
  if (communicator.rank() > 0) {
    selection.known = variant_times_in(receive_text(0, communicator));
    return selection;
  }
  std::ifstream file(selection.cache_file);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (int peer = 1; peer < communicator.size(); ++peer) send_text(text, peer, communicator);
  selection.known = variant_times_in(text);
  return selection;
}

std::string gather_choices(const Choices& choices, Communicator& communicator) {
  Choices::Variants all = choices.made;
  if (communicator.rank() > 0) {
    send_text(lines_of(all), 0, communicator);
    return "";
  }
  for (int peer = 1; peer < communicator.size(); ++peer)
    all.merge(choices_in(receive_text(peer, communicator)));
  return lines_of(all);
}

Choices::Variants choices_in(const std::string& note) {
  Choices::Variants variants;
  std::istringstream lines(note);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t blank = line.find(' '); blank != std::string::npos)
      variants[line.substr(blank + 1)] = line.substr(0, blank);
  return variants;
}

}  // namespace tutti
