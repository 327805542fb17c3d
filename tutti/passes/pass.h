// SPDX-License-Identifier: Apache-2.0
// The list of passes, in the order in which they run, and the runner that verifies the graph after
// each pass, times it and can leave it out by name.
#pragma once

#include "tutti/core/list.h"
#include "tutti/graph/backend.h"
#include "tutti/passes/memory.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tutti {

// What passes read and what they leave besides the graph.
struct PassContext {
  const Backend& backend;
  MemoryPlan memory = {};  // filled by the memory pass
};

// A rewrite of a graph that leaves its results equal. When the pass is switched off, `skipped` runs
// instead, where there is one.
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

  // Runs `step`, a rewrite called `name`; then verifies the graph and records the time.
  void run(const std::string& name, Graph& graph, const std::function<void()>& step);
  // Runs every pass of the list that is not left out.
  void run_all(Graph& graph, PassContext& context);

  const std::vector<PassReport>& reports() const { return reports_; }

 private:
  std::set<std::string> without_;
  std::vector<PassReport> reports_;
};

}  // namespace tutti
