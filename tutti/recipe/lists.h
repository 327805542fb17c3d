// SPDX-License-Identifier: Apache-2.0
// Everything one can choose from in a recipe. A program that links the library may append its own
// models, layers, data sets, rules … and hand the lists to make_job().
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/core/list.h"
#include "tutti/data/dataset.h"
#include "tutti/exchange/gate.h"
#include "tutti/exchange/trigger.h"
#include "tutti/nn/layer.h"
#include "tutti/nn/net.h"
#include "tutti/ops/operators.h"
#include "tutti/optim/rule.h"
#include "tutti/optim/schedule.h"
#include "tutti/passes/pass.h"

namespace tutti {

struct Lists {
  List<Model> models;
  List<Layer> layers;
  List<Loss> losses;
  List<data::DatasetEntry> datasets;
  List<Rule> rules;
  List<Schedule> schedules;
  List<Gate> gates;
  List<Trigger> triggers;
  // Only to be listed: these work by what is compiled in.
  List<ops::OpEntry> operators;
  List<Pass> passes;
  List<Collective> allreduces, reduce_scatters, allgathers;
};

Lists default_lists();

}  // namespace tutti
