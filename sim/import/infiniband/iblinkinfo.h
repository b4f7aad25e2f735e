#pragma once

#include "sim/import/infiniband/infiniband_fabric.h"
#include "sim/import/line_reader.h"

namespace headway {

/// Whether a line is one of `iblinkinfo`, or of its option -l.
[[nodiscard]] bool is_iblinkinfo_line(std::string_view line);

/// Reads the output of `iblinkinfo`, by node or a line for each port (-l), beginning with `line`.
/// Of adapters it has the GUIDs of ports only: each port becomes an adapter of its own. By node,
/// peers are told by LID and description.
void read_iblinkinfo(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                     Diagnostics& diagnostics);

}  // namespace headway
