#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "reports/document/document.h"
#include "sim/result/shared_fabric.h"

namespace headway {

/// How fast each job is beside the others, as lines of the text report.
[[nodiscard]] std::string shared_fabric_text(const SharedFabric& shared);

/// The same as a section of a document.
[[nodiscard]] DocumentSection shared_fabric_section(const SharedFabric& shared);

/// The value of "shared_fabric" in result documents.
[[nodiscard]] nlohmann::json shared_fabric_json(const SharedFabric& shared);

}  // namespace headway
