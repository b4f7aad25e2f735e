#include "sim/import/infiniband/subnet_list.h"

#include <algorithm>
#include <optional>
#include <string>

#include "sim/base/utf8.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

using Kind = InfiniBandNode::Kind;

/// What follows "SPD=".
constexpr std::pair<std::string_view, std::string_view> kSubnetSpeeds[] = {
    {"2.5", "SDR"}, {"5", "DDR"},  {"10", "QDR"},  {"FDR10", "FDR10"}, {"14", "FDR"},
    {"25", "EDR"},  {"50", "HDR"}, {"100", "NDR"}, {"200", "XDR"}};

/// "{ SW Ports:24 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {name} LID:0002
/// PN:01 }", numbers hexadecimal.
struct SubnetEnd {
  Kind kind = Kind::channel_adapter;
  std::uint64_t node_guid = 0;
  std::uint64_t port_guid = 0;
  std::string_view name;
  int lid = 0;
  int port = 0;
};

std::optional<Kind> subnet_kind(std::string_view word) {
  if (word.starts_with("SW")) return Kind::fabric_switch;
  if (word.starts_with("CA")) return Kind::channel_adapter;
  if (word.starts_with("RT")) return Kind::router;
  return std::nullopt;
}

template <class Number>
std::optional<Number> hex_value_of(std::string_view text, std::string_view key) {
  const std::size_t place = text.find(key);
  if (place == std::string_view::npos) return std::nullopt;
  TextScanner scanner(text.substr(place + key.size()));
  return scanner.take_number<Number>(16);
}

/// Takes one end; what it is called may hold anything but a brace and a LID behind it.
std::optional<SubnetEnd> take_subnet_end(TextScanner& scanner) {
  scanner.skip_blanks();
  if (!scanner.take("{ ")) return std::nullopt;
  const auto kind = subnet_kind(scanner.take_word());
  const std::string_view text = scanner.rest();
  const std::size_t name = text.find('{');
  const std::size_t name_end = text.find("} LID:");
  if (!kind || name == std::string_view::npos || name_end == std::string_view::npos ||
      name_end < name) {
    return std::nullopt;
  }
  const std::size_t close = text.find(" }", name_end);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view numbers = text.substr(0, name);
  const std::string_view place = text.substr(name_end, close - name_end);
  const auto node_guid = hex_value_of<std::uint64_t>(numbers, "NodeGUID:");
  const auto port_guid = hex_value_of<std::uint64_t>(numbers, "PortGUID:");
  const auto lid = hex_value_of<int>(place, "LID:");
  const auto port = hex_value_of<int>(place, "PN:");
  if (!node_guid || !port_guid || !lid || !port || *lid < 0 || *port < 1 ||
      *port > kMostInfiniBandPorts) {
    return std::nullopt;
  }
  scanner = TextScanner(text.substr(close + 2));
  return SubnetEnd{.kind = *kind,
                   .node_guid = *node_guid,
                   .port_guid = *port_guid,
                   .name = text.substr(name + 1, name_end - name - 1),
                   .lid = *lid > kMostLid ? 0 : *lid,
                   .port = *port};
}

std::optional<LinkRate> subnet_rate(std::string_view text) {
  const std::size_t width = text.find("PHY=");
  const std::size_t speed = text.find("SPD=");
  if (width == std::string_view::npos || speed == std::string_view::npos) return std::nullopt;
  TextScanner lanes(text.substr(width + 4));
  TextScanner rate(text.substr(speed + 4));
  const std::string_view word = rate.take_word();
  const auto* known =
      std::ranges::find(kSubnetSpeeds, word, [](const auto& row) { return row.first; });
  if (known == std::end(kSubnetSpeeds)) return std::nullopt;
  return parse_link_rate(std::string(lanes.take_word()) + std::string(known->second));
}

/// -1 if the GUID is of a node of another kind.
int subnet_node(const SubnetEnd& end, InfiniBandFabric& fabric) {
  const int number = fabric.add(end.kind, end.node_guid);
  InfiniBandNode& node = fabric.node(number);
  if (node.kind != end.kind) return -1;
  if (node.description.empty()) node.description = printable(end.name);
  const bool is_switch = end.kind == Kind::fabric_switch;
  if (end.lid > 0) node.lids.try_emplace(is_switch ? 0 : end.port, end.lid);
  if (!is_switch) node.port_guids.try_emplace(end.port, end.port_guid);
  return number;
}

/// Why the line does not fit; empty if it does.
std::string read_subnet_line(std::string_view line, const LineReader& lines,
                             InfiniBandFabric& fabric) {
  TextScanner scanner(line);
  const auto near = take_subnet_end(scanner);
  const auto far = near ? take_subnet_end(scanner) : std::nullopt;
  if (!far) return "a line is both ends in braces, each with NodeGUID, PortGUID, name, LID and PN";
  const auto rate = subnet_rate(scanner.rest());
  if (!rate) return "the rate is none such as PHY=4x SPD=25";
  const int a = subnet_node(*near, fabric);
  const int b = subnet_node(*far, fabric);
  if (a < 0 || b < 0) return "the same GUID is of a node of another kind before";
  fabric.node(a).discovery = fabric.discovery();
  const InfiniBandPort port{.peer = b,
                            .peer_port = far->port,
                            .rate = *rate,
                            .location = {.file = lines.path(), .line = lines.line_number()}};
  const bool is_new = fabric.node(a).ports.try_emplace(near->port, port).second;
  return is_new ? "" : "the port is described twice";
}

}  // namespace

bool is_subnet_list_line(std::string_view line) {
  return line.starts_with("{ ") && line.find(" NodeGUID:") != std::string_view::npos;
}

void read_subnet_list(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                      Diagnostics& diagnostics) {
  do {
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    std::string problem = read_subnet_line(line, lines, fabric);
    if (!problem.empty()) diagnostics.add(lines.problem(std::move(problem), kHelpOfBrokenLine));
  } while (lines.next(line));
}

}  // namespace headway
