#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/import/line_reader.h"

namespace headway {

/// What a site calls the nodes of its fabric, by node GUID.
using NodeNameMap = std::map<std::uint64_t, std::string>;

/// Whether a line is one of a node-name-map: `0x0002c9030009e180 "name"`.
[[nodiscard]] bool is_name_map_line(std::string_view line);

/// Reads the rest of a node-name-map of OpenSM, beginning with `line`. Lines that do not fit are
/// reported with the reason.
void read_name_map(LineReader& lines, std::string_view line, NodeNameMap& names,
                   Diagnostics& diagnostics);

}  // namespace headway
