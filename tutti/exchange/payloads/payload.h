// SPDX-License-Identifier: Apache-2.0
// Payloads say what of a block travels. A new payload is a file in this folder and a line in
// payloads.cpp.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"

#include <string>
#include <vector>

namespace tutti {

struct ExchangeTimes;
struct LinearRange;

struct Payload {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  // Whether the gradient of a linear layer travels as its factors (factors.h); nullptr: never.
  bool (*as_factors)(const LinearRange&, DType, const ExchangeTimes&) = nullptr;
};

List<Payload> payloads();

}  // namespace tutti
