#include "sim/import/infiniband/ibnetdiscover.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/import/infiniband/ibnetdiscover_ports.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

using Kind = InfiniBandNode::Kind;

struct Identity {
  Kind kind = Kind::channel_adapter;
  std::uint64_t guid = 0;
};

/// "S-fc6a1c0300f00040": a switch (S), an adapter (H) or a router (R), and its GUID.
std::optional<Identity> identity_of(std::string_view text) {
  TextScanner scanner(text);
  Identity identity;
  if (scanner.take("S-")) {
    identity.kind = Kind::fabric_switch;
  } else if (scanner.take("R-")) {
    identity.kind = Kind::router;
  } else if (!scanner.take("H-")) {
    return std::nullopt;
  }
  const auto guid = scanner.take_number<std::uint64_t>(16);
  if (!guid || !scanner.rest().empty()) return std::nullopt;
  identity.guid = *guid;
  return identity;
}

/// The plain form: a block a node, a line a port in it.
class BlockReader {
 public:
  BlockReader(LineReader& lines, InfiniBandFabric& fabric, Diagnostics& diagnostics)
      : lines_(lines), fabric_(fabric), diagnostics_(diagnostics) {}

  void read(std::string_view line) {
    const std::size_t blank = line.find_first_not_of(" \t");
    if (blank == std::string_view::npos || line[blank] == '#') return;
    line.remove_prefix(blank);
    if (line.front() == '[') return read_port(line);
    if (is_attribute(line)) return;
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (word == "Switch") return read_header(line.substr(word.size()), Kind::fabric_switch);
    if (word == "Ca") return read_header(line.substr(word.size()), Kind::channel_adapter);
    if (word == "Rt") return read_header(line.substr(word.size()), Kind::router);
    if (word == "Hca") {
      return fail("an \"Hca\" is of ibsim's own file format; ibnetdiscover writes \"Ca\"");
    }
    // -g groups the nodes of a chassis, which changes no cable.
    if (word != "Chassis") fail("the line is none that ibnetdiscover writes");
  }

 private:
  void fail(std::string message) {
    diagnostics_.add(lines_.problem(std::move(message), kHelpOfBrokenLine));
  }
  void warn(std::string message) {
    Diagnostic warning = lines_.problem(std::move(message));
    warning.severity = Severity::warning;
    diagnostics_.add(std::move(warning));
  }

  /// "vendid=0x2c9" and the like; the GUIDs stand in the headers too.
  [[nodiscard]] static bool is_attribute(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return false;
    for (const std::string_view key :
         {"vendid", "devid", "sysimgguid", "switchguid", "caguid", "rtguid"}) {
      if (line.substr(0, equals) == key) return true;
    }
    return false;
  }

  /// `36 "S-fc6a1c0300f00040"  # "MF0;sw2:MSB7800/U1" base port 0 lid 6 lmc 0`
  void read_header(std::string_view text, Kind kind) {
    current_ = -1;
    TextScanner scanner(text);
    scanner.skip_blanks();
    const auto ports = scanner.take_number<int>();
    scanner.skip_blanks();
    const auto quoted = scanner.take_quoted();
    if (!ports || !quoted) return fail("a node is its number of ports, then \"its GUID\"");
    const auto identity = identity_of(*quoted);
    if (!identity) {
      return fail(in_quotes(*quoted) + " is no S-, H- or R- with a hexadecimal GUID");
    }
    if (identity->kind != kind) return fail("the node's kind and the letter of its GUID differ");
    if (*ports < 1 || *ports > kMostInfiniBandPorts) return fail("a node has 1 to 254 ports");
    current_ = fabric_.add(kind, identity->guid);
    InfiniBandNode& node = fabric_.node(current_);
    if (node.kind != kind) return forget("the same GUID is of a node of another kind before");
    // Each subnet that an adapter has a port in describes it.
    const bool may_repeat = kind == Kind::channel_adapter && node.discovery != fabric_.discovery();
    if (node.discovery != 0 && !may_repeat) return forget("the same node is described before");
    node.discovery = fabric_.discovery();
    most_ports_ = *ports;
    scanner.skip_blanks();
    scanner.take("#");
    scanner.skip_blanks();
    if (const auto description = scanner.take_quoted(true)) {
      node.description = printable(*description);
    }
    read_addresses(scanner.rest(), node, 0, kind == Kind::fabric_switch);
  }

  void forget(std::string message) {
    current_ = -1;
    fail(std::move(message));
  }

  /// "... lid 6 lmc 0": the first of each.
  void read_addresses(std::string_view text, InfiniBandNode& node, int port, bool is_expected) {
    TextScanner scanner(text);
    bool has_lid = false;
    while (!scanner.rest().empty()) {
      scanner.skip_blanks();
      const std::string_view word = scanner.take_word();
      if (word != "lid" && word != "lmc") continue;
      scanner.skip_blanks();
      const auto number = scanner.take_number<int>();
      if (!number || *number < 0 || *number > kMostLid) return fail("a LID is 0 to 49151");
      if (word == "lmc") {
        node.lmc = *number;
      } else if (!std::exchange(has_lid, true) && *number > 0) {
        node.lids[port] = *number;
      }
    }
    if (is_expected && !has_lid) warn("the line gives no LID");
  }

  /// `[1](946dae0300e00031)  "S-fc6a1c0300f00040"[2]  # lid 5 lmc 0 "sw2" lid 6 4xEDR`
  /// `[2]  "H-946dae0300e00030"[1](946dae0300e00031)  # "hpc4 mlx5_0" lid 5 4xEDR s=4 w=2`
  void read_port(std::string_view line) {
    TextScanner scanner(line);
    const std::string_view form = "a port is [number], the GUID of the peer in quotes, [its port]";
    const auto end = take_end(scanner);
    if (!end) return fail(std::string(form));
    scanner.skip_blanks();
    const auto quoted = scanner.take_quoted();
    if (!quoted) return fail(std::string(form));
    const auto identity = identity_of(*quoted);
    if (!identity) return fail(std::string(form));
    const auto far_end = take_end(scanner);
    if (!far_end) return fail(std::string(form));
    if (current_ < 0) return fail("the port stands below no node");
    if (end->port > most_ports_) {
      return fail(fmt::format("the node has {} ports", most_ports_));
    }
    scanner.skip_blanks();
    scanner.take("#");
    const auto far = read_remark(scanner.rest(), *end);
    if (!far) return;

    const int peer = fabric_.add(identity->kind, identity->guid);
    InfiniBandNode& peer_node = fabric_.node(peer);
    if (peer_node.kind != identity->kind) {
      return fail("the same GUID is of a node of another kind before");
    }
    if (peer_node.description.empty()) peer_node.description = printable(far->description);
    if (identity->kind != Kind::fabric_switch) {
      if (far_end->guid != 0) peer_node.port_guids.try_emplace(far_end->port, far_end->guid);
      if (far->lid > 0) peer_node.lids.try_emplace(far_end->port, far->lid);
    } else if (far->lid > 0) {
      peer_node.lids.try_emplace(0, far->lid);
    }
    InfiniBandNode& node = fabric_.node(current_);
    if (end->guid != 0) node.port_guids[end->port] = end->guid;
    const InfiniBandPort port{.peer = peer,
                              .peer_port = far_end->port,
                              .rate = far->rate,
                              .location = {.file = lines_.path(), .line = lines_.line_number()}};
    if (!node.ports.try_emplace(end->port, port).second) fail("the port is described twice");
  }

  struct End {
    int port = 0;
    std::uint64_t guid = 0;  ///< 0 if it is not given
  };

  /// "[1]", "[1](946dae0300e00031)", "[1][ext 4]".
  static std::optional<End> take_end(TextScanner& scanner) {
    End end;
    if (!scanner.take("[")) return std::nullopt;
    const auto port = scanner.take_number<int>();
    if (!port || *port < 1 || *port > kMostInfiniBandPorts || !scanner.take("]"))
      return std::nullopt;
    end.port = *port;
    if (scanner.take("[ext ") && !scanner.take_to(']')) return std::nullopt;
    if (scanner.take("(")) {
      const auto guid = scanner.take_number<std::uint64_t>(16);
      if (!guid || !scanner.take(")")) return std::nullopt;
      end.guid = *guid;
    }
    return end;
  }

  struct Far {
    std::string_view description;
    int lid = 0;
    LinkRate rate;
  };

  /// What stands behind the "#": an adapter's own LID before the peer's description, then the
  /// peer's LID and the rate.
  std::optional<Far> read_remark(std::string_view text, const End& end) {
    const std::size_t quote = text.find('"');
    if (quote == std::string_view::npos) {
      fail("the line does not say what the peer is called");
      return std::nullopt;
    }
    InfiniBandNode& node = fabric_.node(current_);
    if (node.kind != Kind::fabric_switch) {
      read_addresses(text.substr(0, quote), node, end.port, true);
    }
    TextScanner scanner(text.substr(quote));
    const auto description = scanner.take_quoted(true);
    if (!description) {
      fail("a quote is missing");
      return std::nullopt;
    }
    Far far{.description = *description};
    std::string_view last;
    while (!scanner.rest().empty()) {
      scanner.skip_blanks();
      const std::string_view word = scanner.take_word();
      if (word == "lid") {
        scanner.skip_blanks();
        far.lid = scanner.take_number<int>().value_or(0);
      } else if (const auto rate = parse_link_rate(word)) {
        far.rate = *rate;
        last = word;
      }
    }
    if (last.empty()) {
      fail("the line gives no rate such as 4xHDR");
      return std::nullopt;
    }
    if (far.lid < 0 || far.lid > kMostLid) far.lid = 0;
    return far;
  }

  LineReader& lines_;
  InfiniBandFabric& fabric_;
  Diagnostics& diagnostics_;
  int current_ = -1;  ///< the node whose block is read; -1 between blocks or in a broken one
  int most_ports_ = 0;
};

}  // namespace

bool is_ibnetdiscover_line(std::string_view line) {
  for (const std::string_view start :
       {"vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "Switch", "Ca\t",
        "Ca ", "Rt\t", "Rt ", "Hca", "[", "Chassis"}) {
    if (line.starts_with(start)) return true;
  }
  return is_port_list_line(line);
}

void read_ibnetdiscover(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                        Diagnostics& diagnostics) {
  if (is_port_list_line(line)) return read_port_list(lines, line, fabric, diagnostics);
  BlockReader reader(lines, fabric, diagnostics);
  do {
    if (!fabric.has_room()) return diagnostics.add(lines.too_many("lines of nodes and ports"));
    reader.read(line);
  } while (lines.next(line));
}

}  // namespace headway
