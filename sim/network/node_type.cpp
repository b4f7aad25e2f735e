#include "sim/network/node_type.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/files/json_reader.h"
#include "sim/network/optional_schema.h"

namespace headway {

namespace {

constexpr int kMostAccelerators = 1024;  // of a node
constexpr std::pair<std::string_view, HostProcessor> kProcessors[] = {
    {"other", HostProcessor::other}, {"intel", HostProcessor::intel}, {"amd", HostProcessor::amd}};
constexpr int kMostNics = 256;
// NIC and PCIe, one way: half of what ib_write_lat shows through one switch, 1.6 to 2 us.
constexpr Seconds kNicLatency = 800_ns;
constexpr Seconds kScaleUpLatency = 500_ns;  // one way through an NVSwitch, an estimate

/// NICs spread evenly: accelerator i sends by NIC floor(i * nics / accelerators).
std::vector<int> even_spread(int accelerators, int nics) {
  std::vector<int> nearest(static_cast<std::size_t>(accelerators));
  for (int i = 0; i < accelerators; ++i)
    nearest[static_cast<std::size_t>(i)] = i * nics / accelerators;
  return nearest;
}

std::vector<int> read_nearest(ObjectReader& reader, int accelerators, int nics) {
  if (!reader.has("nearest")) {
    std::vector<int> nearest = even_spread(accelerators, nics);
    reader.resolve("nearest", nearest);
    static_cast<void>(reader.part("nearest"));
    return nearest;
  }
  const std::vector<JsonCursor> elements = reader.elements("nearest");
  if (elements.size() != static_cast<std::size_t>(accelerators)) {
    reader.report("nearest", "\"nearest\" names one NIC for each accelerator",
                  fmt::format("{} NICs for {} accelerators", elements.size(), accelerators));
  }
  std::vector<int> nearest;
  for (const JsonCursor& element : elements) {
    const nlohmann::json& value = element.value();
    const bool is_nic = value.is_number_integer() && value >= 0 && value < nics;
    if (!is_nic) {
      reader.diagnostics().add(
          element.problem("no such NIC", fmt::format("the node has {}, numbered from 0", nics)));
    }
    nearest.push_back(is_nic ? value.get<int>() : 0);
  }
  return nearest;
}

nlohmann::json read_nics(const JsonCursor& part, NodeType& type, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  type.nics = static_cast<int>(reader.integer("count", between(1, kMostNics), 1));
  type.nic_bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive());
  type.nic_bus_bandwidth =
      reader.quantity<BytesPerSecond>("bus_bandwidth", positive(), type.nic_bandwidth);
  type.nic_latency = reader.quantity<Seconds>("latency", at_least(0.0), kNicLatency);
  type.nearest_nic = read_nearest(reader, type.accelerators, type.nics);
  return reader.finish();
}

/// The scale-up domain holds whole nodes, or a node holds whole domains.
bool is_aligned(int domain, int accelerators) {
  return domain % accelerators == 0 || accelerators % domain == 0;
}

nlohmann::json read_scale_up(const JsonCursor& part, ReadNodeType& read, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  NodeType& type = read.type;
  type.scale_up_bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive());
  type.scale_up_latency = reader.quantity<Seconds>("latency", at_least(0.0), kScaleUpLatency);
  type.scale_up_reduces = reader.flag("reduces", false);
  read.scale_up_domain =
      static_cast<int>(reader.integer("domain", between(1, 1 << 20), type.accelerators));
  if (!is_aligned(read.scale_up_domain, type.accelerators)) {
    reader.report("domain", "a scale-up domain is made of whole nodes, or a node of whole domains",
                  fmt::format("a node has {} accelerators", type.accelerators));
  }
  return reader.finish();
}

}  // namespace

std::optional<ReadNodeType> read_node_type(const JsonCursor& part, InputFiles& files) {
  const std::optional<JsonCursor> object = files.follow(part, "topologies/nodes");
  if (!object) return std::nullopt;

  Diagnostics problems;
  ReadNodeType read;
  NodeType& type = read.type;
  ObjectReader reader(*object, problems);
  if (!read_schema_of_file(reader, "headway/node/1")) {
    files.diagnostics().append(problems);
    return std::nullopt;
  }
  type.name = reader.text("name", "node");
  reader.text("source", "");
  type.accelerator = reader.text("accelerator");
  type.accelerators =
      static_cast<int>(reader.integer("accelerators", between(1, kMostAccelerators), 1));

  type.processor = reader.choice<HostProcessor>("processor", kProcessors, HostProcessor::other);
  if (const auto nics = reader.required_part("nics")) {
    reader.resolve("nics", read_nics(*nics, type, problems));
  }
  // A lone accelerator has nobody to scale up with.
  const auto scale_up =
      type.accelerators == 1 ? reader.part("scale_up") : reader.required_part("scale_up");
  if (scale_up) reader.resolve("scale_up", read_scale_up(*scale_up, read, problems));
  read.resolved = reader.finish();

  files.diagnostics().append(problems);
  if (problems.has_errors()) return std::nullopt;
  return read;
}

}  // namespace headway
