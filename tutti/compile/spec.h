// SPDX-License-Identifier: Apache-2.0
// All that decides what a rank runs in a step, as values: the network, how it is trained, what is
// known of the machine and of the transport. Whatever is measured was measured before.
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
  int every = 2;                   // cells of a run
  int slots = 4;                   // cells kept at any time
  std::int64_t limit_bytes = 0;    // of flat vectors and arena; 0: any
};

struct StepSpec {
  std::function<Net(const NetInput&)> build;  // the network for a batch of a given size
  NetInput input;                             // shapes and type; the batch is set per step
  std::string backend = "cpu";
  Selection selection = {};
  int threads = 1;
  MemoryOptions memory = {};
  List<Rule> rules = tutti::rules();
  StepClosing closing = {};       // update.rule points into a list that outlives the step; rank and
                                  // ranks are the transport's
  std::set<std::string> without;  // passes to leave out
  MessageOptions messages = {};
  std::int64_t batch = 0;  // samples of the largest step; 0: not known
  Mesh mesh = {};
  TransportFacts facts = {};
  // What was measured of this machine with so many threads; nothing: usual rates.
  std::optional<Calibration> calibration = {};
};

// A batch may be cut into several micro-batches, whose gradients add up; the last one exchanges and
// updates.
struct Accumulation {
  bool adds = false;   // to the gradients of earlier micro-batches
  bool closes = true;  // the step
  auto operator<=>(const Accumulation&) const = default;
};

// What a step is compiled for.
struct Purpose {
  bool training = true;
  std::int64_t samples = 0, local = 0;  // over all ranks, and of this one
  Accumulation accumulation = {};
  std::int64_t bucket = 0;  // room for tokens in each sample; 0: as the fields of the spec have
  auto operator<=>(const Purpose&) const = default;
};

}  // namespace tutti
