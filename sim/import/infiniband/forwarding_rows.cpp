#include "sim/import/infiniband/forwarding_rows.h"

#include <string_view>

namespace headway {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace

ForwardingRows forwarding_rows(const ForwardingSwitches& switches, const ForwardingTables& tables,
                               const std::vector<Destination>& destinations) {
  ForwardingRows made;
  for (const int number : switches.numbers) {
    const auto table = tables.find(switches.fabric.node(number).guid);
    const bool has_table = table != tables.end();
    made.without += has_table ? 0 : 1;
    std::vector<std::uint8_t> ports;
    if (has_table) ports = table->second.ports(kMostLid + 1);
    std::string row;
    row.reserve(2 * destinations.size());
    for (const Destination& destination : destinations) {
      const bool has_entry =
          has_table && destination.subnet == switches.subnets[static_cast<std::size_t>(number)];
      const unsigned port = has_entry ? ports[static_cast<std::size_t>(destination.lid)] : 0;
      made.loose += port > 0 && !switches.cabled.contains({number, static_cast<int>(port)}) ? 1 : 0;
      row += {kHexDigits[port / 16], kHexDigits[port % 16]};
    }
    made.rows.push_back(std::move(row));
  }
  made.unused = tables.size() - (switches.numbers.size() - made.without);
  return made;
}

}  // namespace headway
