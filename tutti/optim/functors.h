// SPDX-License-Identifier: Apache-2.0
// The update rules as types. A new rule is its header and its name in `Functors`, from which the
// list of rules and the kernels of every back end are made.
#pragma once

#include "tutti/optim/adagrad.h"
#include "tutti/optim/adam.h"
#include "tutti/optim/adamw.h"
#include "tutti/optim/lamb.h"
#include "tutti/optim/lars.h"
#include "tutti/optim/momentum.h"
#include "tutti/optim/nesterov.h"
#include "tutti/optim/rmsprop.h"
#include "tutti/optim/sgd.h"

namespace tutti {

template <class... F>
struct FunctorList {};

using Functors = FunctorList<Sgd, Momentum, Nesterov, AdaGrad, RmsProp, Adam, AdamW, Lars, Lamb>;

}  // namespace tutti
