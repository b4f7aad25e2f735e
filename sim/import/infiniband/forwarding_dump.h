#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/import/line_reader.h"

namespace headway {

/// The forwarding table of a switch: only what the dump has, which takes less than its text.
class ForwardingTable {
 public:
  /// Where a LID has several entries the last one counts. False if one of this LID or of one above
  /// was added before, as no tool dumps them.
  [[nodiscard]] bool add(int lid, int port) {
    const bool goes_up = entries_.empty() || entries_.back().lid < lid;
    entries_.push_back({static_cast<std::uint16_t>(lid), static_cast<std::uint8_t>(port)});
    return goes_up;
  }
  [[nodiscard]] std::size_t entries() const { return entries_.size(); }
  /// The port of each LID below `lids`; 0 where the dump has no entry (or the LID is the switch's
  /// own).
  [[nodiscard]] std::vector<std::uint8_t> ports(int lids) const {
    std::vector<std::uint8_t> ports(static_cast<std::size_t>(lids), 0);
    for (const Entry& entry : entries_) {
      if (entry.lid < lids) ports[entry.lid] = entry.port;
    }
    return ports;
  }

 private:
  struct Entry {
    std::uint16_t lid;
    std::uint8_t port;
  };
  std::vector<Entry> entries_;
};

/// Linear forwarding tables as they were dumped, by the GUID of the switch.
using ForwardingTables = std::unordered_map<std::uint64_t, ForwardingTable>;

/// Whether a line begins the table of a switch.
[[nodiscard]] bool is_forwarding_line(std::string_view line);

/// Reads what `dump_fts` prints, or the opensm-lfts.dump that OpenSM writes, beginning with `line`.
/// Lines that do not fit are reported with the reason.
void read_forwarding_dump(LineReader& lines, std::string_view line, ForwardingTables& tables,
                          Diagnostics& diagnostics);

}  // namespace headway
