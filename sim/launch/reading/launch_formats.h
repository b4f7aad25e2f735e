#pragma once

#include <span>

#include "sim/import/import_format.h"

namespace headway {

/// What starts a training job, or tells how one was started, as `headway import` names it. They
/// make scenarios.
[[nodiscard]] std::span<const ImportFormat> launch_formats();

}  // namespace headway
