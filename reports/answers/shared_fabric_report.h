#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/shared_fabric.h"

namespace headway {

/// How fast each job is beside the others, as lines of the text report.
[[nodiscard]] std::string shared_fabric_text(const SharedFabric& shared);

/// The same as a section of a document.
[[nodiscard]] DocumentSection shared_fabric_section(const SharedFabric& shared);

}  // namespace headway
