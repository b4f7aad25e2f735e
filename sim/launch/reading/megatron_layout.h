#pragma once

#include <string_view>
#include <vector>

namespace headway {

/// How many decoder layers each part of a pipeline holds, in the order of the model, of a
/// --pipeline-model-parallel-layout: "Et*3|(tt|)*29m|L" (megatron/core/transformer/
/// pipeline_parallel_layer_layout.py). Empty for a text that is none.
[[nodiscard]] std::vector<int> layers_of_layout(std::string_view layout);

}  // namespace headway
