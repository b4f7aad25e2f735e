#include "sim/import/infiniband/ibdiagnet_csv.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/letter_case.h"
#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

using Kind = InfiniBandNode::Kind;
using CsvPort = std::pair<std::uint64_t, int>;  ///< GUID of the node, number

/// Bits of PortInfo (InfiniBand specification, 14.2.5.6; the extended speeds begin at bit 8).
constexpr std::pair<int, std::string_view> kSpeedBits[] = {
    {0x1, "SDR"},   {0x2, "DDR"},   {0x4, "QDR"},   {0x10000, "FDR10"}, {0x100, "FDR"},
    {0x200, "EDR"}, {0x400, "HDR"}, {0x800, "NDR"}, {0x1000, "XDR"}};
constexpr std::pair<int, std::string_view> kWidthBits[] = {
    {0x1, "1x"}, {0x2, "4x"}, {0x4, "8x"}, {0x8, "12x"}, {0x10, "2x"}};

template <std::size_t size>
std::string_view word_of_bit(const std::pair<int, std::string_view> (&words)[size], int bit) {
  const auto* found = std::ranges::find(words, bit, &std::pair<int, std::string_view>::first);
  return found == std::end(words) ? std::string_view() : found->second;
}

/// The values of a line; commas within double quotes separate nothing.
void split_csv(std::string_view line, std::vector<std::string_view>& values) {
  values.clear();
  if (line.ends_with('\r')) line.remove_suffix(1);
  bool is_quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') is_quoted = !is_quoted;
    if (i < line.size() && (is_quoted || line[i] != ',')) continue;
    std::string_view value = line.substr(begin, i - begin);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    values.push_back(value);
    begin = i + 1;
  }
}

/// Decimal, or hexadecimal behind 0x.
template <class Number>
std::optional<Number> csv_number(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  return parse_number<Number>(text, is_hexadecimal ? 16 : 10);
}

class DiagnosisReader {
 public:
  DiagnosisReader(LineReader& lines, InfiniBandFabric& fabric, Diagnostics& diagnostics)
      : lines_(lines), fabric_(fabric), diagnostics_(diagnostics) {}

  void read(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (line.starts_with("START_")) {
      section_ = std::string(line.substr(6, line.find_last_not_of(" \t\r") - 5));
      columns_.clear();
      return;
    }
    if (line.starts_with("END_")) return section_.clear();
    if (section_ != "NODES" && section_ != "PORTS" && section_ != "LINKS") return;
    split_csv(line, values_);
    if (columns_.empty()) {
      for (std::size_t i = 0; i < values_.size(); ++i) columns_[lower_case(values_[i])] = i;
      return;
    }
    if (section_ == "NODES") return read_node();
    section_ == "PORTS" ? read_port() : read_link();
  }

  /// Cables, now that the rates of all ports are known.
  void finish() {
    if (links_.empty() && !diagnostics_.has_errors()) {
      Diagnostic problem;
      problem.message = "the file has no section LINKS, so it tells of no cable";
      problem.location.file = lines_.path();
      problem.help = "give the ibdiagnet2.db_csv of a run that discovered the fabric";
      diagnostics_.add(std::move(problem));
    }
    for (const Link& link : links_) {
      const auto rate = rates_.find(link.a);
      const auto other = rates_.find(link.b);
      const auto found = rate != rates_.end() ? rate : other;
      const int a = fabric_.find(link.a.first);
      const int b = fabric_.find(link.b.first);
      if (a < 0 || b < 0) {
        fail_at(link.location, "the section NODES does not have this GUID");
      } else if (found == rates_.end()) {
        fail_at(link.location, "the section PORTS does not tell the rate of this cable");
      } else {
        join(a, link.a.second, b, link.b.second, found->second, link.location);
        join(b, link.b.second, a, link.a.second,
             other != rates_.end() ? other->second : found->second, link.location);
      }
    }
  }

 private:
  struct Link {
    CsvPort a;
    CsvPort b;
    SourceLocation location;
  };

  void fail(std::string message) {
    diagnostics_.add(lines_.problem(std::move(message), kHelpOfBrokenLine));
  }

  void fail_at(const SourceLocation& location, std::string message) {
    Diagnostic problem;
    problem.help = kHelpOfBrokenLine;
    problem.message = std::move(message);
    problem.location = location;
    diagnostics_.add(std::move(problem));
  }

  /// The value in this line; empty if the section has no such column.
  [[nodiscard]] std::string_view value(const char* column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() || found->second >= values_.size() ? std::string_view()
                                                                      : values_[found->second];
  }

  [[nodiscard]] std::optional<CsvPort> port_of(const char* guid, const char* number) const {
    const auto node = csv_number<std::uint64_t>(value(guid));
    const auto port = csv_number<int>(value(number));
    if (!node || !port || *port < 0 || *port > kMostInfiniBandPorts) return std::nullopt;
    return CsvPort{*node, *port};
  }

  void read_node() {
    const auto guid = csv_number<std::uint64_t>(value("nodeguid"));
    const auto type = csv_number<int>(value("nodetype"));
    if (!guid || !type || *type < 1 || *type > 3) {
      return fail("a node has a NodeGUID and a NodeType: 1 adapter, 2 switch, 3 router");
    }
    constexpr Kind kKinds[] = {Kind::channel_adapter, Kind::fabric_switch, Kind::router};
    const Kind kind = kKinds[*type - 1];
    InfiniBandNode& node = fabric_.node(fabric_.add(kind, *guid));
    if (node.kind != kind) return fail("the same GUID is of a node of another kind before");
    node.description = printable(value("nodedesc"));
    node.discovery = fabric_.discovery();
  }

  void read_port() {
    const auto port = port_of("nodeguid", "portnum");
    if (!port) return fail("a port has a NodeGuid and a PortNum");
    const int number = fabric_.find(port->first);
    if (number < 0) return fail("the section NODES does not have this GUID");
    InfiniBandNode& node = fabric_.node(number);
    const int lid = csv_number<int>(value("lid")).value_or(0);
    const int key = node.kind == Kind::fabric_switch ? 0 : port->second;
    if (lid > 0 && lid <= kMostLid) node.lids.try_emplace(key, lid);
    if (key != 0) {
      const auto guid = csv_number<std::uint64_t>(value("portguid"));
      if (guid) node.port_guids.try_emplace(key, *guid);
      node.lmc = std::max(node.lmc, std::clamp(csv_number<int>(value("lmc")).value_or(0), 0, 7));
    }
    const std::string_view width =
        word_of_bit(kWidthBits, csv_number<int>(value("linkwidthactv")).value_or(0));
    const std::string_view speed =
        word_of_bit(kSpeedBits, csv_number<int>(value("linkspeedactv")).value_or(0));
    if (width.empty() || speed.empty()) return;  // nothing is plugged in
    const auto rate = parse_link_rate(std::string(width) + std::string(speed));
    if (rate) rates_.try_emplace(*port, *rate);
  }

  void read_link() {
    const auto a = port_of("nodeguid1", "portnum1");
    const auto b = port_of("nodeguid2", "portnum2");
    if (!a || !b || a->second == 0 || b->second == 0) {
      return fail("a cable is NodeGuid1, PortNum1, NodeGuid2 and PortNum2");
    }
    links_.push_back(
        {.a = *a, .b = *b, .location = {.file = lines_.path(), .line = lines_.line_number()}});
  }

  /// One end of a cable. A list may have each cable twice.
  void join(int near, int near_port, int far, int far_port, const LinkRate& rate,
            const SourceLocation& location) {
    const InfiniBandPort port{
        .peer = far, .peer_port = far_port, .rate = rate, .location = location};
    const auto [place, is_new] = fabric_.node(near).ports.try_emplace(near_port, port);
    if (is_new || (place->second.peer == far && place->second.peer_port == far_port)) return;
    fail_at(location, "the port is described twice");
  }

  LineReader& lines_;
  InfiniBandFabric& fabric_;
  Diagnostics& diagnostics_;
  std::string section_;
  std::map<std::string, std::size_t> columns_;  ///< of the section; empty before its heading
  std::vector<std::string_view> values_;
  std::map<CsvPort, LinkRate> rates_;
  std::vector<Link> links_;
};

}  // namespace

bool is_ibdiagnet_line(std::string_view line) { return line.starts_with("START_"); }

void read_ibdiagnet_csv(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                        Diagnostics& diagnostics) {
  DiagnosisReader reader(lines, fabric, diagnostics);
  do reader.read(line);
  while (lines.next(line));
  if (!lines.gave_up()) reader.finish();
}

}  // namespace headway
