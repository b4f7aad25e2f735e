#pragma once

#include "sim/import/infiniband/infiniband_fabric.h"
#include "sim/import/line_reader.h"

namespace headway {

/// Whether a line is one of opensm-subnet.lst.
[[nodiscard]] bool is_subnet_list_line(std::string_view line);

/// Reads the opensm-subnet.lst that OpenSM writes, a line for each end of a cable, beginning with
/// `line`. Lines that do not fit are reported with the reason.
void read_subnet_list(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                      Diagnostics& diagnostics);

}  // namespace headway
