// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/stores/store.h"

namespace tutti {

extern const Store all_store, sharded_store, sharded_weights_store;

List<Store> stores() { return {"store", {all_store, sharded_store, sharded_weights_store}}; }

}  // namespace tutti
