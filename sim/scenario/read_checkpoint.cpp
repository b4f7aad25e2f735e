#include "sim/scenario/read_checkpoint.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

using Interval = CheckpointSettings::Interval;
constexpr std::array<std::pair<std::string_view, Interval>, 3> kWays{{
    {"young", Interval::young},
    {"daly", Interval::daly},
    {"search", Interval::search},
}};

void read_interval(ObjectReader& reader, CheckpointSettings& settings) {
  const std::string text = reader.text("interval", "daly");
  for (const auto& [word, way] : kWays) {
    if (text == word) {
      settings.how = way;
      return;
    }
  }
  settings.how = Interval::given;
  const auto parsed = parse_quantity<Seconds>(text);
  if (const auto* time = std::get_if<Seconds>(&parsed); time != nullptr && *time > Seconds(0.0)) {
    settings.interval = *time;
    return;
  }
  reader.report("interval",
                fmt::format("{} is neither a time nor a way to find one", in_quotes(text)), "",
                R"(write "30 min", or "young", "daly" or "search")");
}

/// What the accelerators need to hand their part to the host, each over its own link.
Seconds snapshot_time(ObjectReader& reader, const ReliableJob& job, Bytes size) {
  BytesPerSecond bandwidth(1.0);
  if (reader.has("snapshot_bandwidth") || !job.profile.device.host_bandwidth) {
    if (!reader.has("snapshot_bandwidth")) {
      reader.report("snapshot_bandwidth",
                    fmt::format("profile {} does not know how fast accelerators write to the host",
                                job.profile.name),
                    "", R"(write "snapshot_bandwidth": "20 GB/s", what one of them reaches)");
    } else {
      bandwidth = reader.quantity<BytesPerSecond>("snapshot_bandwidth", positive());
    }
  } else {
    bandwidth = reader.quantity<BytesPerSecond>(
        "snapshot_bandwidth", positive(), BytesPerSecond(job.profile.device.host_bandwidth->value));
  }
  return size / static_cast<double>(job.strategy.ranks()) / bandwidth;
}

CheckpointSettings::Local read_local(const JsonCursor& part, Diagnostics& diagnostics, Bytes size,
                                     int nodes, nlohmann::json& resolved) {
  ObjectReader reader(part, diagnostics);
  CheckpointSettings::Local local;
  local.interval = reader.quantity<Seconds>("interval", positive());
  const auto bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive());
  local.blocking = size / static_cast<double>(nodes) / bandwidth;
  local.loading = local.blocking;
  local.survives_lost_nodes = reader.flag("survives_lost_nodes", false);
  resolved = reader.finish();
  return local;
}

}  // namespace

CheckpointSettings read_checkpoint(ObjectReader& reader, const ReliableJob& job, int nodes) {
  CheckpointSettings settings;
  read_interval(reader, settings);
  settings.size = checkpoint_bytes(job.model, job.strategy);
  settings.size = reader.quantity<Bytes>("size", positive(), settings.size);
  const auto write = reader.quantity<BytesPerSecond>("storage_bandwidth", positive());
  const auto read = reader.quantity<BytesPerSecond>("read_bandwidth", positive(), write);
  settings.loading = settings.size / read;
  const Seconds storing = settings.size / write;
  if (reader.flag("asynchronous", false)) {
    settings.blocking = snapshot_time(reader, job, settings.size);
    settings.persisting = storing;
    if (settings.how == Interval::given && settings.interval < storing) {
      reader.report("interval", "a checkpoint begins before the one before is stored",
                    fmt::format("storing takes {}", short_text(storing)),
                    "take a longer interval, or faster storage");
    }
  } else {
    settings.blocking = storing;
    if (reader.has("snapshot_bandwidth")) {
      reader.report("snapshot_bandwidth", "only an asynchronous checkpoint has this");
    }
    static_cast<void>(reader.part("snapshot_bandwidth"));
  }
  if (const auto part = reader.part("local")) {
    nlohmann::json resolved;
    settings.local = read_local(*part, reader.diagnostics(), settings.size, nodes, resolved);
    reader.resolve("local", std::move(resolved));
  }
  return settings;
}

}  // namespace headway
