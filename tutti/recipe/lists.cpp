// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/lists.h"

#include "tutti/compile/rewrites.h"

namespace tutti {

Lists default_lists() {
  return {.models = models(),
          .layers = layers(),
          .losses = losses(),
          .datasets = data::datasets(),
          .rules = rules(),
          .schedules = schedules(),
          .local_rules = local_rules(),
          .gates = gates(),
          .triggers = triggers(),
          .stores = stores(),
          .payloads = payloads(),
          .codecs = codecs(),
          .merges = merges(),
          .operators = ops::operators(),
          .passes = all_passes(),
          .allreduces = allreduces(),
          .reduce_scatters = reduce_scatters(),
          .allgathers = allgathers()};
}

}  // namespace tutti
