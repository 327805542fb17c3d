// SPDX-License-Identifier: Apache-2.0
// All that decides what a rank runs in a step, as values: the network, how it is trained, what is
// known of the machine and of the transport.
#pragma once

#include "tutti/comm/transport.h"
#include "tutti/core/mesh.h"
#include "tutti/cost/machine.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/exec/compiled_step.h"
#include "tutti/kernels/selection.h"
#include "tutti/nn/net.h"
#include "tutti/optim/rule.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace tutti {

// Memory against time: which activations are computed again, and what a rank may use in all.
struct MemoryOptions {
  std::string recompute = "none";  // none, every, root, slots, limit
  int every = 2;                   // for "every": cells from one that is kept to the next
  int slots = 4;                   // for "slots": cells kept at any time
  std::int64_t limit_bytes = 0;    // for flat vectors and arena together; 0: no limit
};

struct StepSpec {
  std::function<Net(const NetInput&)> build;  // the network for a batch of a given size
  NetInput input;                             // shapes and type; the batch is set per step
  std::string backend = "cpu";
  Selection selection = {};
  int threads = 1;
  MemoryOptions memory = {};
  List<Rule> rules = tutti::rules();
  // Its update.rule outlives the step. Its rank and ranks are not read: `facts` has them.
  StepClosing closing = {};
  std::set<std::string> without;  // passes to leave out
  MessageOptions messages = {};
  std::int64_t batch = 0;  // samples of the largest step; 0: not known
  Mesh mesh = {};
  TransportFacts facts = {};
  // Speeds that were measured on this machine with `threads` threads; nothing: usual rates.
  std::optional<Calibration> calibration = {};
};

// What the step of a micro-batch does with its gradients. A batch may be cut into several
// micro-batches, whose gradients add up; the last one exchanges and updates.
struct Accumulation {
  bool adds = false;   // adds its gradients to those of earlier micro-batches
  bool closes = true;  // is the last micro-batch: exchanges and updates
  auto operator<=>(const Accumulation&) const = default;
};

// What a step is compiled for.
struct Purpose {
  bool training = true;
  std::int64_t samples = 0, local = 0;  // of the micro-batch: over all ranks, and of this rank
  Accumulation accumulation = {};
  std::int64_t bucket = 0;  // room for tokens in each sample; 0: that of the fields in the spec
  auto operator<=>(const Purpose&) const = default;
};

}  // namespace tutti
