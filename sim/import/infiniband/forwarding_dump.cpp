#include "sim/import/infiniband/forwarding_dump.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "sim/base/limits.h"
#include "sim/import/infiniband/infiniband_fabric.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

constexpr std::string_view kHeader = "Unicast lids";
constexpr int kNoPath = 255;  ///< of LIDs that nobody has, which `dump_fts -a` prints too

/// `Unicast lids [0x0-0x6] of switch DR path slid 0; dlid 0; 0,1,35 guid 0x.. (desc):`
/// `Unicast lids [0-6] of switch Lid 2 guid 0x.. ('desc'):`
std::optional<std::uint64_t> switch_of(std::string_view line) {
  constexpr std::string_view kGuid = " guid 0x";
  const std::size_t place = line.find(kGuid);
  if (place == std::string_view::npos) return std::nullopt;
  return TextScanner(line.substr(place + kGuid.size())).take_number<std::uint64_t>(16);
}

/// `0x0001 035 : (Channel Adapter portguid 0x..: 'hpc1 mlx5_0')`, or `# Channel Adapter ...`. What
/// stands behind the port is known from the discovery. `goes_up` becomes false where the LIDs do
/// not.
std::string read_entry(std::string_view line, ForwardingTable& table, bool& goes_up) {
  TextScanner scanner(line);
  scanner.take("0x");
  const auto lid = scanner.take_number<int>(16);
  scanner.skip_blanks();
  const auto port = scanner.take_number<int>();
  const bool ends_there = scanner.rest().empty() || scanner.rest().front() == ' ' ||
                          scanner.rest().front() == '\t' || scanner.rest().front() == '\r';
  if (!lid || !port || !ends_there) return "an entry is a LID and a port: 0x0001 035";
  if (*port == kNoPath) return "";
  if (*lid < 1 || *lid > kMostLid) return "a LID is 0x1 to 0xbfff";
  if (*port < 0 || *port > kMostInfiniBandPorts) return "a port is 0 to 254";
  goes_up = table.add(*lid, *port);
  return "";
}

/// `6 valid lids dumped`: how many entries a table has. OpenSM writes the highest LID instead, and
/// no "valid".
std::optional<std::size_t> entries_told(std::string_view line) {
  TextScanner scanner(line);
  const auto total = scanner.take_number<std::size_t>();
  return scanner.take(" valid lids dumped") ? total : std::nullopt;
}

/// Headings, totals and blank lines.
bool is_remark(std::string_view line) {
  TextScanner scanner(line);
  scanner.skip_blanks();
  if (scanner.rest().empty() || scanner.take("#")) return true;
  if (scanner.take("Lid ") || scanner.take("Port ")) return true;
  return line.find("lids dumped") != std::string_view::npos;
}

}  // namespace

bool is_forwarding_line(std::string_view line) { return line.starts_with(kHeader); }

void read_forwarding_dump(LineReader& lines, std::string_view line, ForwardingTables& tables,
                          Diagnostics& diagnostics) {
  ForwardingTable* current = nullptr;
  ForwardingTable refused;  // entries below a switch that was reported already
  bool was_warned = false;  // of the table's order
  const auto warn = [&](std::string message) {
    Diagnostic warning = lines.problem(std::move(message), kHelpOfBrokenLine);
    warning.severity = Severity::warning;
    diagnostics.add(std::move(warning));
  };
  do {
    std::string problem;
    std::string help = kHelpOfBrokenLine;
    if (line.starts_with("0x")) {
      bool goes_up = true;
      problem = current == nullptr ? "the entry stands below no switch"
                                   : read_entry(line, *current, goes_up);
      if (!goes_up && !std::exchange(was_warned, true)) {
        warn("the LIDs of the table do not go up; of one that stands twice the last entry counts");
      }
    } else if (is_forwarding_line(line)) {
      const auto guid = switch_of(line);
      const bool is_new = guid && !tables.contains(*guid);
      was_warned = false;
      current = is_new ? &tables[*guid] : &refused;
      if (std::ssize(tables) > limits().cables) {
        return diagnostics.add(lines.too_many("forwarding tables"));
      }
      if (!guid) problem = "the line does not give the switch's GUID";
      if (guid && !is_new) {
        problem = "the table of the same switch was read before";
        help = "give one dump of the tables of each subnet";
      }
    } else if (!is_remark(line)) {
      problem = "the line is none that dump_fts or OpenSM writes";
    } else if (const auto total = entries_told(line); total && current != nullptr) {
      const std::size_t read = current->entries();
      if (current != &refused && read != *total) {
        warn(fmt::format("the table has {} entries, where {} were dumped", read, *total));
      }
      current = nullptr;
    }
    if (problem.empty()) continue;
    Diagnostic diagnostic = lines.problem(std::move(problem));
    diagnostic.help = std::move(help);
    diagnostics.add(std::move(diagnostic));
  } while (lines.next(line));
}

}  // namespace headway
