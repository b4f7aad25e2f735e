#include "sim/import/infiniband/iblinkinfo.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/utf8.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

using Kind = InfiniBandNode::Kind;

constexpr std::string_view kArrow = "==(";
constexpr std::string_view kArrowEnd = ")==>";

/// What a lane signals at, in Gb/s, as the tool prints it.
constexpr std::pair<std::string_view, std::string_view> kLinkInfoSpeeds[] = {
    {"2.5", "SDR"},     {"5.0", "DDR"},     {"10.0", "QDR"},
    {"FDR10", "FDR10"}, {"14.0625", "FDR"}, {"25.78125", "EDR"},
    {"53.125", "HDR"},  {"106.25", "NDR"},  {"212.5", "XDR"}};

/// One end of a line, or what a heading says.
struct LinkInfoEnd {
  std::uint64_t guid = 0;  ///< 0 if it is not told
  int lid = 0;
  int port = 0;
  std::string_view description;
};

std::optional<std::uint64_t> take_hex_guid(TextScanner& scanner) {
  scanner.skip_blanks();
  if (!scanner.take("0x")) return std::nullopt;
  return scanner.take_number<std::uint64_t>(16);
}

/// `6    1[  ]`
bool take_lid_and_port(TextScanner& scanner, LinkInfoEnd& end) {
  scanner.skip_blanks();
  const auto lid = scanner.take_number<int>();
  scanner.skip_blanks();
  const auto port = scanner.take_number<int>();
  if (!lid || !port || !scanner.take("[") || !scanner.take_to(']')) return false;
  end.lid = *lid;
  end.port = *port;
  return *lid >= 0 && *lid <= kMostLid && *port >= 0 && *port <= kMostInfiniBandPorts;
}

std::optional<LinkRate> link_info_rate(std::string_view text) {
  TextScanner scanner(text);
  scanner.skip_blanks();
  std::string_view width = scanner.take_word();
  scanner.skip_blanks();
  const std::string_view speed = scanner.take_word();
  const auto* known =
      std::ranges::find(kLinkInfoSpeeds, speed, [](const auto& row) { return row.first; });
  if (!width.ends_with('X') || known == std::end(kLinkInfoSpeeds)) return std::nullopt;
  width.remove_suffix(1);
  return parse_link_rate(std::string(width) + "x" + std::string(known->second));
}

class LinkInfoReader {
 public:
  LinkInfoReader(LineReader& lines, InfiniBandFabric& fabric, Diagnostics& diagnostics)
      : lines_(lines), fabric_(fabric), diagnostics_(diagnostics) {}

  void read(std::string_view line) {
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') return;
    const std::size_t arrow = line.find(kArrow);
    if (arrow == std::string_view::npos) return read_heading(line);
    LinkInfoEnd near = heading_;
    std::string_view left = line.substr(0, arrow);
    const bool has_names = left.starts_with("0x");
    if (!read_near(left, has_names, near)) return;
    const std::size_t end = line.find(kArrowEnd, arrow);
    if (end == std::string_view::npos) return fail("behind the arrow stands the peer");
    // Without a cable: the switch has one port more.
    if (has_names) ++ports_of_[near.guid];
    const std::string_view state = line.substr(arrow + kArrow.size(), end - arrow - kArrow.size());
    if (state.find("LinkUp") == std::string_view::npos) return;
    const auto rate = link_info_rate(state);
    if (!rate) return fail("the rate is none such as 4X 25.78125 Gbps");
    LinkInfoEnd far;
    TextScanner right(line.substr(end + kArrowEnd.size()));
    if (const auto guid = take_hex_guid(right)) far.guid = *guid;
    if (!take_lid_and_port(right, far)) return fail("a peer is its LID and its port");
    right.skip_blanks();
    // A description may hold quotes; what the link could do stands in brackets behind it.
    const std::size_t last = right.rest().rfind("\" (");
    if (!right.take("\"") || last == std::string_view::npos || last < 1) {
      return fail("the line does not say what the peer is called");
    }
    far.description = right.rest().substr(0, last - 1);
    if (near.port == 0 || far.port == 0) return fail("a cable is in no port 0");
    cables_.push_back({.near = kept(near, has_names ? Kind::router : kind_),
                       .far = kept(far, Kind::router),
                       .rate = *rate,
                       .location = {.file = lines_.path(), .line = lines_.line_number()}});
  }

  /// The nodes of all ends, now that all LIDs and all ports are known.
  void finish() {
    for (Cable& cable : cables_) note(cable.near);
    for (Cable& cable : cables_) {
      const int a = node_of(cable.near);
      const int b = node_of(cable.far);
      fabric_.node(a).discovery = fabric_.discovery();
      const InfiniBandPort port{
          .peer = b, .peer_port = cable.far.port, .rate = cable.rate, .location = cable.location};
      if (fabric_.node(a).ports.try_emplace(cable.near.port, port).second) continue;
      Diagnostic problem;
      problem.message = "the port is described twice";
      problem.location = cable.location;
      diagnostics_.add(std::move(problem));
    }
  }

 private:
  /// An end that outlives its line. `router`: not told.
  struct Kept {
    std::uint64_t guid = 0;
    int lid = 0;
    int port = 0;
    std::string description;
    Kind kind = Kind::router;
  };
  struct Cable {
    Kept near;
    Kept far;
    LinkRate rate;
    SourceLocation location;
  };

  static Kept kept(const LinkInfoEnd& end, Kind kind) {
    return {.guid = end.guid,
            .lid = end.lid,
            .port = end.port,
            .description = printable(end.description),
            .kind = kind};
  }

  void fail(std::string message) {
    diagnostics_.add(lines_.problem(std::move(message), kHelpOfBrokenLine));
  }

  /// `CA: hpc4 mlx5_0:` or `Switch: 0xfc6a1c0300f00040 name:`
  void read_heading(std::string_view line) {
    TextScanner scanner(line);
    if (scanner.take("Switch: ")) {
      kind_ = Kind::fabric_switch;
    } else if (scanner.take("CA: ") || scanner.take("Router: ")) {
      kind_ = Kind::channel_adapter;
    } else {
      return fail("a node begins with its kind (CA, Switch, Router)");
    }
    heading_ = {};
    if (kind_ == Kind::fabric_switch) {
      const auto guid = take_hex_guid(scanner);
      if (!guid) return fail("a switch has a GUID");
      heading_.guid = *guid;
    }
    scanner.skip_blanks();
    description_ = scanner.rest().substr(0, scanner.rest().rfind(':'));
    heading_.description = description_;
  }

  bool read_near(std::string_view left, bool has_names, LinkInfoEnd& near) {
    TextScanner scanner(left);
    if (has_names) {
      near = {};
      near.guid = take_hex_guid(scanner).value_or(0);
      scanner.skip_blanks();
      const std::size_t last = scanner.rest().rfind('"');
      if (!scanner.take("\"") || last == 0 || last == std::string_view::npos) {
        fail("a port is its GUID, its name, its LID and its number");
        return false;
      }
      std::string_view name = scanner.rest().substr(0, last - 1);
      const std::size_t text = name.find_first_not_of(' ');
      near.description = text == std::string_view::npos ? std::string_view() : name.substr(text);
      scanner = TextScanner(scanner.rest().substr(last));
    } else if (const auto guid = take_hex_guid(scanner)) {
      near.guid = *guid;  // an adapter's port
    }
    if (near.guid == 0) {
      fail("the port stands below no node");
      return false;
    }
    if (take_lid_and_port(scanner, near)) return true;
    fail("a port is its LID and its number");
    return false;
  }

  void note(Kept& end) {
    if (end.kind == Kind::router) {
      end.kind = ports_of_[end.guid] > 1 ? Kind::fabric_switch : Kind::channel_adapter;
    }
    if (end.lid > 0) guid_of_lid_.try_emplace(end.lid, end.guid);
    kinds_.try_emplace(end.guid, end.kind);
  }

  int node_of(const Kept& end) {
    std::uint64_t guid = end.guid;
    const auto known = guid_of_lid_.find(end.lid);
    if (guid == 0 && known != guid_of_lid_.end()) guid = known->second;
    // Nobody asked it: `iblinkinfo` of switches alone. Its LID is as good as a GUID.
    if (guid == 0) guid = static_cast<std::uint64_t>(end.lid);
    const auto kind = kinds_.find(guid);
    const Kind as = kind == kinds_.end() ? Kind::channel_adapter : kind->second;
    const int number = fabric_.add(as, guid);
    InfiniBandNode& node = fabric_.node(number);
    if (node.description.empty()) node.description = end.description;
    const bool is_switch = as == Kind::fabric_switch;
    if (end.lid > 0) node.lids.try_emplace(is_switch ? 0 : end.port, end.lid);
    if (!is_switch) node.port_guids.try_emplace(end.port, guid);
    return number;
  }

  LineReader& lines_;
  InfiniBandFabric& fabric_;
  Diagnostics& diagnostics_;
  Kind kind_ = Kind::router;
  std::string description_;
  LinkInfoEnd heading_;
  std::vector<Cable> cables_;
  std::map<std::uint64_t, int> ports_of_;  ///< lines of each GUID
  std::map<int, std::uint64_t> guid_of_lid_;
  std::map<std::uint64_t, Kind> kinds_;
};

}  // namespace

bool is_iblinkinfo_line(std::string_view line) {
  for (const std::string_view start : {"CA: ", "Switch: 0x", "Router: "}) {
    if (line.starts_with(start)) return true;
  }
  return line.starts_with("0x") && line.find(kArrow) != std::string_view::npos;
}

void read_iblinkinfo(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                     Diagnostics& diagnostics) {
  LinkInfoReader reader(lines, fabric, diagnostics);
  do reader.read(line);
  while (lines.next(line));
  if (!lines.gave_up()) reader.finish();
}

}  // namespace headway
