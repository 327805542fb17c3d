// SPDX-License-Identifier: Apache-2.0
// The list of optional rewrites, in the order they run, and the runner that verifies the graph
// after each, times it and can leave it out by name.
#pragma once

#include "tutti/core/list.h"
#include "tutti/graph/backend.h"
#include "tutti/passes/memory.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tutti {

struct PassContext {
  const Backend& backend;
  MemoryPlan memory = {};  // filled by the memory pass
};

// Graph → graph with equal results; `skipped` runs instead when the pass is switched off.
struct Pass {
  std::string name;
  std::string doc;
  void (*run)(Graph&, PassContext&) = nullptr;
  void (*skipped)(Graph&, PassContext&) = nullptr;
};

List<Pass> passes();

struct PassReport {
  std::string name;
  double seconds = 0;
  int nodes_before = 0, nodes_after = 0;
};

class PassRunner {
 public:
  // `without` names passes to leave out; an unknown name is an Error.
  explicit PassRunner(std::set<std::string> without = {});

  // Runs one step, verifies and records it.
  void run(const std::string& name, Graph& graph, const std::function<void()>& step);
  // Runs every pass of the list.
  void run_all(Graph& graph, PassContext& context);

  const std::vector<PassReport>& reports() const { return reports_; }

 private:
  std::set<std::string> without_;
  std::vector<PassReport> reports_;
};

}  // namespace tutti
