#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// "A step takes 98.7 s: it generates for 61 s, ...": what a step of reinforcement learning takes,
/// and what would make it shorter.
[[nodiscard]] std::string post_training_sentence(const PostTraining& of);

[[nodiscard]] DocumentSection post_training_section(const PostTraining& of);

}  // namespace headway
