// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/local_rules/local_rule.h"

namespace tutti {

extern const LocalRule svrg_rule;

List<LocalRule> local_rules() {
  return {"local rule", {{.name = "none", .doc = "the gradient as it is"}, svrg_rule}};
}

}  // namespace tutti
