#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/index.h"
#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/network/routing/routing_kind.h"

namespace headway {

namespace {

constexpr int kMostTablePorts = 0xFFFF;

/// The value of a digit, or -1.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Forwarding tables as real switches hold them: for each switch and each endpoint the port by
/// which what is destined there leaves; 0 where the switch has no entry. `Port` is as narrow as the
/// highest port allows.
template <class Port>
class TableRouting final : public Routing {
 public:
  /// `ports[s * endpoints + d]`, switches and endpoints numbered each in the order of their
  /// vertices.
  TableRouting(const Topology& topology, std::vector<Port> ports)
      : topology_(topology), ports_(std::move(ports)) {
    for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
      int& next = topology.is_switch(vertex) ? switches_ : endpoints_;
      number_.push_back(next++);
      if (topology.is_switch(vertex)) index_ports(vertex);
    }
    first_port_.push_back(link_of_port_.size());
  }

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    if (source == destination) return;
    const std::size_t before = route.size();
    const std::span<const LinkId> first = topology_.links_from(source);
    LinkId link = first.empty() ? -1 : first.front();
    int hops = 0;
    while (link != -1) {
      route.push_back({.link = link});
      const VertexId at = topology_.link(link).to;
      if (at == destination) return;
      // A path that has seen as many switches as there are and goes on has come round in a circle.
      if (!topology_.is_switch(at) || ++hops > switches_) break;
      link = next_link(at, destination);
    }
    route.resize(before);
    throw UnreachableError(topology_, source, destination);
  }

 private:
  void index_ports(VertexId vertex) {
    first_port_.push_back(link_of_port_.size());
    const std::size_t first = link_of_port_.size();
    for (const LinkId link : topology_.links_from(vertex)) {
      const std::size_t port = first + index(topology_.link(link).from_port);
      if (port >= link_of_port_.size()) link_of_port_.resize(port + 1, -1);
      link_of_port_[port] = link;
    }
  }

  /// -1 for a destination without an entry, or one that leaves by a port without a cable.
  [[nodiscard]] LinkId next_link(VertexId at, VertexId destination) const {
    const std::size_t row = index(number_[index(at)]);
    const std::size_t port = ports_[row * index(endpoints_) + index(number_[index(destination)])];
    const std::size_t place = first_port_[row] + port;
    return port != 0 && place < first_port_[row + 1] ? link_of_port_[place] : -1;
  }

  const Topology& topology_;
  std::vector<Port> ports_;
  std::vector<int> number_;              ///< of each vertex, among switches or among endpoints
  std::vector<std::size_t> first_port_;  ///< of each switch, in `link_of_port_`
  std::vector<LinkId> link_of_port_;     ///< -1 where no cable is
  int switches_ = 0;
  int endpoints_ = 0;
};

/// The entries of one switch, or nothing if the text is not `columns` numbers of `digits` digits.
template <class Port>
bool append_row(const std::string& text, std::size_t columns, std::size_t digits,
                std::vector<Port>& ports) {
  if (text.size() != columns * digits) return false;
  for (std::size_t column = 0; column < columns; ++column) {
    int port = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int digit = hex_digit(text[column * digits + i]);
      if (digit < 0) return false;
      port = port * 16 + digit;
    }
    ports.push_back(static_cast<Port>(port));
  }
  return true;
}

template <class Port>
std::unique_ptr<const Routing> table_of(ObjectReader& reader, const Topology& topology,
                                        std::size_t digits) {
  const std::size_t problems = reader.diagnostics().errors();
  const auto columns = index(topology.endpoint_count());
  const std::vector<JsonCursor> rows = reader.elements("rows");
  if (rows.size() != index(topology.switch_count())) {
    reader.report("rows", "a table has one row for each switch",
                  fmt::format("{} rows for {} switches", rows.size(), topology.switch_count()));
  }
  std::vector<Port> ports;
  ports.reserve(rows.size() * columns);
  nlohmann::json resolved = nlohmann::json::array();
  for (const JsonCursor& row : rows) {
    const bool is_row =
        row.value().is_string() &&
        append_row(row.value().get_ref<const std::string&>(), columns, digits, ports);
    if (!is_row) {
      reader.diagnostics().add(
          row.problem("a row of the table has one hexadecimal port for each endpoint",
                      fmt::format("{} endpoints of {} digits each", columns, digits)));
      break;
    }
    resolved.push_back(row.value());
  }
  reader.resolve("rows", std::move(resolved));
  if (reader.diagnostics().errors() != problems) return nullptr;
  return std::make_unique<TableRouting<Port>>(topology, std::move(ports));
}

/// The highest port of any switch that a cable is in, and the sum of them over switches: a table
/// has a place for each port below.
struct UsedPorts {
  int highest = 0;
  std::int64_t places = 0;
};
UsedPorts used_ports(const Topology& topology) {
  UsedPorts used;
  for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
    if (!topology.is_switch(vertex)) continue;
    int highest = 0;
    for (const LinkId link : topology.links_from(vertex)) {
      highest = std::max(highest, topology.link(link).from_port);
    }
    used.highest = std::max(used.highest, highest);
    used.places += highest;
  }
  return used;
}

/// What is read by table_of.
struct TableFields {};

const FieldTable<TableFields>& table_fields() {
  static const FieldTable<TableFields> kFields(
      {{"digits", elsewhere<TableFields>({"2 or 4", whole_type(between(2, 4)).schema}),
        R"(Hexadecimal digits of a port in the rows of a table.
default: 2)"},
       {"rows", elsewhere<TableFields>(array_type(text_type(), "texts")).required(),
        R"(Forwarding tables: a row for each switch, in it the port for each endpoint, both in the
order of the graph; 00 where there is no entry. `headway import` writes them.
limits: one row for each switch, one port for each endpoint)"}});
  return kFields;
}

/// {"kind": "table", "digits": 2, "rows": ["0102..", ...]}: a row for each switch in the order of
/// the fabric's switches, in it a hexadecimal port for each endpoint in their order.
std::unique_ptr<const Routing> build_table_routing(ObjectReader& reader,
                                                   const RoutingRequest& request) {
  if (request.fabric_kind != "graph") {
    report_wrong_fabric(reader, request, "table", "graph");
    static_cast<void>(reader.part("digits"));
    static_cast<void>(reader.part("rows"));
    return nullptr;
  }
  const auto digits = index(static_cast<int>(reader.integer("digits", between(2, 4), 2)));
  const UsedPorts used = used_ports(request.topology);
  if (digits == 3 || used.highest > kMostTablePorts) {
    reader.report("digits", "ports have 2 or 4 digits");
  }
  if (used.places > limits().cables) {
    reader.report("kind",
                  fmt::format("the switches have {} ports up to the highest ones in use",
                              grouped_digits(used.places)),
                  "", limit_help(&Limits::cables));
    static_cast<void>(reader.part("rows"));
    return nullptr;
  }
  if (!reader.has("rows")) static_cast<void>(reader.required_part("rows"));
  return digits == 2 ? table_of<std::uint8_t>(reader, request.topology, digits)
                     : table_of<std::uint16_t>(reader, request.topology, digits);
}

}  // namespace

RoutingKind table_routing() {
  return {"table", build_table_routing, [] { return table_fields().described(); }};
}

}  // namespace headway
