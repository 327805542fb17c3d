// SPDX-License-Identifier: Apache-2.0
// A list of named structs: operators, rules, models, data sets … A program that links the library
// may append its own entries.
#pragma once

#include "tutti/core/error.h"
#include "tutti/core/nearest.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

template <class Entry>
class List {
 public:
  // `kind` is the singular noun used in messages ("model").
  List(std::string kind, std::vector<Entry> entries)
      : kind_(std::move(kind)), entries_(std::move(entries)) {}

  // Throws Error with a suggestion when there is no entry of this name.
  const Entry& find(std::string_view name) const& {
    for (const Entry& entry : entries_)
      if (entry.name == name) return entry;
    throw Error("unknown {} '{}'{}", kind_, name, suggestion(name, names()));
  }
  // In a temporary list: a copy, since a reference would dangle.
  Entry find(std::string_view name) && { return std::as_const(*this).find(name); }
  bool has(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return true;
    return false;
  }
  void add(Entry entry) {
    if (has(entry.name)) throw Error("there is a {} '{}' already", kind_, entry.name);
    entries_.push_back(std::move(entry));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.emplace_back(entry.name);
    return all;
  }
  const std::string& kind() const { return kind_; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace tutti
