// SPDX-License-Identifier: Apache-2.0
// All cases of all operators, each with a name for its test.
#pragma once

#include "tutti/ops/operators.h"

#include <cctype>
#include <ostream>
#include <string>
#include <vector>

namespace tutti::contract {

struct NamedCase {
  const Op* op = nullptr;
  OpCase size = {};
  std::string name = {};
};

inline void PrintTo(const NamedCase& named, std::ostream* out) { *out << named.name; }

// "convolution_3_2x2x5x5_3x2x3x3_padding1".
inline std::string case_name(const Op& op, std::size_t number, const OpCase& size) {
  std::string text = fmt::format("{}_{}", op.name, number);
  for (const Type& type : size.in) {
    text += '_';
    for (std::size_t d = 0; d < type.shape.size(); ++d)
      text += fmt::format("{}{}", d > 0 ? "x" : "", type.shape[d]);
    if (type.shape.empty()) text += type == Type{} ? "none" : "scalar";
  }
  for (const auto& [name, value] : size.settings.values()) {
    text += "_" + name;
    for (const char c : to_string(value))
      if (std::isalnum(static_cast<unsigned char>(c)))
        text += c;
      else if (c == ' ' || c == '.')
        text += '_';
  }
  return text;
}

// Of the operators that have a reference.
inline std::vector<NamedCase> named_cases() {
  std::vector<NamedCase> all;
  for (const ops::OpEntry& entry : ops::operators()) {
    if (entry.op->reference == nullptr || entry.op->cases == nullptr) continue;
    std::size_t number = 0;
    for (const OpCase& size : entry.op->cases()) {
      all.push_back({entry.op, size, case_name(*entry.op, number, size)});
      ++number;
    }
  }
  return all;
}

}  // namespace tutti::contract
