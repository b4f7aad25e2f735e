#include "sim/import/infiniband/ibnetdiscover_ports.h"

#include <optional>
#include <string>

#include "sim/base/utf8.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

using Kind = InfiniBandNode::Kind;

/// "SW  1719 10 0x7cfe9003009ce5b0".
struct End {
  Kind kind = Kind::channel_adapter;
  int lid = 0;
  int port = 0;
  std::uint64_t guid = 0;
};

std::optional<Kind> kind_named(std::string_view word) {
  if (word == "SW") return Kind::fabric_switch;
  if (word == "CA") return Kind::channel_adapter;
  if (word == "RT") return Kind::router;
  return std::nullopt;
}

std::optional<End> take_end(TextScanner& scanner) {
  scanner.skip_blanks();
  const auto kind = kind_named(scanner.take_word());
  scanner.skip_blanks();
  const auto lid = scanner.take_number<int>();
  scanner.skip_blanks();
  const auto port = scanner.take_number<int>();
  scanner.skip_blanks();
  if (!kind || !lid || !port || !scanner.take("0x")) return std::nullopt;
  const auto guid = scanner.take_number<std::uint64_t>(16);
  if (!guid || *lid < 0 || *lid > kMostLid || *port < 0 || *port > kMostInfiniBandPorts) {
    return std::nullopt;
  }
  return End{.kind = *kind, .lid = *lid, .port = *port, .guid = *guid};
}

/// The node of an end; -1 if its GUID is of a node of another kind.
int node_of(const End& end, std::string_view description, InfiniBandFabric& fabric) {
  const int number = fabric.add(end.kind, end.guid);
  InfiniBandNode& node = fabric.node(number);
  if (node.kind != end.kind) return -1;
  if (node.description.empty()) node.description = printable(description);
  const bool is_switch = end.kind == Kind::fabric_switch;
  if (end.lid > 0) node.lids.try_emplace(is_switch ? 0 : end.port, end.lid);
  if (!is_switch) node.port_guids.try_emplace(end.port, end.guid);
  return number;
}

/// Why the line does not fit; empty if it does.
std::string read_line(std::string_view line, const LineReader& lines, InfiniBandFabric& fabric) {
  TextScanner scanner(line);
  const auto near = take_end(scanner);
  if (!near) return "a port is its kind (SW, CA, RT), LID, number and GUID";
  scanner.skip_blanks();
  const std::string_view width = scanner.take_word();
  scanner.skip_blanks();
  const std::string_view speed = scanner.take_word();
  scanner.skip_blanks();
  // A port without a cable shows the speed it was made with, which says nothing.
  if (!scanner.take("- ")) return "";
  const auto far = take_end(scanner);
  scanner.skip_blanks();
  if (!far || !scanner.take("( '")) return "behind the dash stands the peer, then both names";
  const std::string_view names = scanner.rest();
  const std::size_t middle = names.find("' - '");
  const std::size_t last = names.rfind("' )");
  if (middle == std::string_view::npos || last == std::string_view::npos || last < middle + 5) {
    return "the names stand as ( 'one' - 'other' )";
  }
  const auto rate = parse_link_rate(std::string(width) + std::string(speed));
  if (!rate) return "the rate is none such as 4x HDR";
  if (near->port == 0 || far->port == 0) return "a cable is in no port 0";

  const int a = node_of(*near, names.substr(0, middle), fabric);
  const int b = node_of(*far, names.substr(middle + 5, last - middle - 5), fabric);
  if (a < 0 || b < 0) return "the same GUID is of a node of another kind before";
  const InfiniBandPort port{.peer = b,
                            .peer_port = far->port,
                            .rate = *rate,
                            .location = {.file = lines.path(), .line = lines.line_number()}};
  fabric.node(a).discovery = fabric.discovery();
  return fabric.node(a).ports.try_emplace(near->port, port).second ? ""
                                                                   : "the port is described twice";
}

}  // namespace

bool is_port_list_line(std::string_view line) {
  TextScanner scanner(line);
  return take_end(scanner).has_value();
}

void read_port_list(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                    Diagnostics& diagnostics) {
  do {
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') continue;
    if (!fabric.has_room()) return diagnostics.add(lines.too_many("lines of nodes and ports"));
    std::string problem = read_line(line, lines, fabric);
    if (!problem.empty()) diagnostics.add(lines.problem(std::move(problem), kHelpOfBrokenLine));
  } while (lines.next(line));
}

}  // namespace headway
