#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/import/line_reader.h"

namespace headway {

/// Linear forwarding tables as they were dumped: for each switch the port of each LID.
struct ForwardingTables {
  /// By the switch's GUID; indexed by LID, 0 where the dump has no entry (or the LID is the
  /// switch's own).
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> ports;
};

/// Whether a line begins the table of a switch.
[[nodiscard]] bool is_forwarding_line(std::string_view line);

/// Reads what `dump_fts` prints, or the opensm-lfts.dump that OpenSM writes, beginning with `line`.
/// Lines that do not fit are reported with the reason.
void read_forwarding_dump(LineReader& lines, std::string_view line, ForwardingTables& tables,
                          Diagnostics& diagnostics);

}  // namespace headway
