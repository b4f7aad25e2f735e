#pragma once

#include "sim/import/infiniband/infiniband_fabric.h"
#include "sim/import/line_reader.h"

namespace headway {

/// Whether a line begins what `ibnetdiscover` prints: a block of it, or a line of `-p`.
[[nodiscard]] bool is_ibnetdiscover_line(std::string_view line);

/// Reads the output of `ibnetdiscover`, plain or with -f, -g or -p, into `fabric`, beginning with
/// `line`. Lines that do not fit are reported with the reason.
void read_ibnetdiscover(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                        Diagnostics& diagnostics);

}  // namespace headway
