#include "sim/import/infiniband/node_name_map.h"

#include <optional>

#include "sim/base/limits.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

struct Entry {
  std::uint64_t guid = 0;
  std::string name;
};

std::optional<Entry> entry_of(std::string_view line) {
  TextScanner scanner(line);
  scanner.skip_blanks();
  if (!scanner.take("0x")) return std::nullopt;
  const auto guid = scanner.take_number<std::uint64_t>(16);
  scanner.skip_blanks();
  const auto name = scanner.take_quoted();
  if (!guid || !name || name->empty()) return std::nullopt;
  return Entry{.guid = *guid, .name = std::string(*name)};
}

}  // namespace

bool is_name_map_line(std::string_view line) { return entry_of(line).has_value(); }

void read_name_map(LineReader& lines, std::string_view line, NodeNameMap& names,
                   Diagnostics& diagnostics) {
  do {
    const std::size_t text = line.find_first_not_of(" \t\r");
    if (text == std::string_view::npos || line[text] == '#') continue;
    const auto entry = entry_of(line);
    if (std::ssize(names) >= limits().cables) {
      return diagnostics.add(lines.too_many("names of nodes"));
    }
    const bool is_new = entry && names.emplace(entry->guid, entry->name).second;
    if (is_new) continue;
    diagnostics.add(lines.problem(entry ? "the GUID is named twice"
                                        : "an entry is a GUID and a name in quotes"));
  } while (lines.next(line));
}

}  // namespace headway
