// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/default_recipe.h"

namespace tutti {

const std::string_view default_recipe_text =
    R"(# LeNet on the embedded handwritten digits: needs no files.

[model]
name = "lenet"

[data]
name = "digits"
size = 28
padding = 4

[train]
epochs = 30
batch = 32
seed = 1

[optimizer]
rule = "momentum"
rate = 0.05
schedule = "cosine"
weight_decay = 0.005
)";

}  // namespace tutti
