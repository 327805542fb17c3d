// SPDX-License-Identifier: Apache-2.0
// Everything one can choose from in a recipe. A program that links the library may append its own
// models, layers, data sets, rules … and hand the lists to make_job().
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/core/list.h"
#include "tutti/data/dataset.h"
#include "tutti/exchange/local_rules/local_rule.h"
#include "tutti/exchange/scheme.h"
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
  List<LocalRule> local_rules;
  List<Gate> gates;
  List<Trigger> triggers;
  List<Store> stores;
  List<Payload> payloads;
  List<Codec> codecs;
  List<Merge> merges;
  // Only to be listed: entries that are appended here are not used.
  List<ops::OpEntry> operators;
  List<Pass> passes;
  List<Collective> allreduces, reduce_scatters, allgathers;
};

Lists default_lists();

}  // namespace tutti
