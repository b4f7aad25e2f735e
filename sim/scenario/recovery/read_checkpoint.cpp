#include "sim/scenario/recovery/read_checkpoint.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

using IntervalBy = CheckpointSettings::Interval;

/// The settings, and what they are made from.
struct Checkpoint {
  struct Local {
    Seconds interval;
    BytesPerSecond bandwidth;
    bool survives_lost_nodes = false;
  };
  CheckpointSettings settings;
  BytesPerSecond storage;
  BytesPerSecond read;
  std::optional<BytesPerSecond> snapshot;  ///< the profile's, where it has one
  bool is_asynchronous = false;
  std::optional<Local> local;
};

FieldMember<Checkpoint> interval() {
  return {
      .type = {"text with a unit: time, or \"young\", \"daly\", \"search\"", text_type().schema},
      .read = [](ObjectReader& reader, std::string_view key, bool, Checkpoint& checkpoint) {
        CheckpointSettings& settings = checkpoint.settings;
        const std::string text = reader.text(key, "daly");
        settings.how = value_named<IntervalBy>(text).value_or(IntervalBy::given);
        if (settings.how != IntervalBy::given) return;
        const auto parsed = parse_quantity<Seconds>(text);
        if (const auto* time = std::get_if<Seconds>(&parsed);
            time != nullptr && *time > Seconds(0.0)) {
          settings.interval = *time;
          return;
        }
        reader.report(key,
                      fmt::format("{} is neither a time nor a way to find one", in_quotes(text)),
                      "", R"(write "30 min", or "young", "daly" or "search")");
      }};
}

/// What the profile knows, or else has to be said.
FieldMember<Checkpoint> snapshot() {
  return {.type = quantity_type<BytesPerSecond>({}),
          .read = [](ObjectReader& reader, std::string_view key, bool, Checkpoint& checkpoint) {
            if (!checkpoint.snapshot && !reader.has(key)) {
              reader.report(key,
                            "the profile does not know how fast accelerators write to the host", "",
                            R"(write "snapshot_bandwidth": "20 GB/s", what one of them reaches)");
              return;
            }
            checkpoint.snapshot =
                checkpoint.snapshot
                    ? reader.quantity<BytesPerSecond>(key, positive(), *checkpoint.snapshot)
                    : reader.quantity<BytesPerSecond>(key, positive());
          }};
}

const FieldTable<Checkpoint::Local>& local_fields() {
  static const FieldTable<Checkpoint::Local> kFields(
      {{"interval", quantity(&Checkpoint::Local::interval, positive()).required_as(R"("2 min")"),
        "Training time between two, taken as a whole part of the other interval."},
       {"bandwidth", quantity(&Checkpoint::Local::bandwidth, positive()).required(),
        "At which a node writes its part and reads it back."},
       {"survives_lost_nodes", flag(&Checkpoint::Local::survives_lost_nodes),
        "Whether other nodes keep copies."}});
  return kFields;
}

const FieldTable<Checkpoint>& checkpoint_fields() {
  static const FieldTable<Checkpoint> kFields(
      {{"interval", interval(),
        R"(Training time between two checkpoints. The words find the one that loses least: by closed
form, or by trying on the drawn histories. What is warned of in time to save, and what a recovery
gets over in place, loses no work and asks for none.
see: Young 1974; Daly 2006, equation 37
default: "daly")"},
       {"size", within(&Checkpoint::settings, quantity(&CheckpointSettings::size, positive())),
        R"(Of the whole job: 14 bytes a trained parameter (16 bits, and the fp32 copy and moments of
Adam), 2 a frozen one.
default: from the model)"},
       {"storage_bandwidth", quantity(&Checkpoint::storage, positive()).required(),
        "At which the whole job writes to storage."},
       {"read_bandwidth", quantity(&Checkpoint::read, positive()).settled([](Checkpoint& of) {
          of.read = of.storage;
        }),
        R"(At which it reads one back.
default: storage_bandwidth)"},
       {"asynchronous", flag(&Checkpoint::is_asynchronous),
        R"(Training stands still only until the state is in the host's memory; it can be restored
from once it is stored.)"},
       {"snapshot_bandwidth",
        snapshot().only_where([](const Checkpoint& of) { return of.is_asynchronous; },
                              {"asynchronous", "true", "only an asynchronous checkpoint has this"}),
        R"(At which an accelerator writes to its host's memory.
default: the profile's host_bandwidth)"},
       {"local", part(&Checkpoint::local, local_fields),
        R"(A faster tier that is written to more often: the nodes' memory or disks. Lost with a node,
kept through other failures.)"}});
  return kFields;
}

}  // namespace

std::vector<FieldDescription> checkpoint_field_descriptions() {
  return checkpoint_fields().described();
}

CheckpointSettings read_checkpoint(ObjectReader& reader, const ReliableJob& job, int nodes) {
  Checkpoint read;
  CheckpointSettings& settings = read.settings;
  settings.size = checkpoint_bytes(job.model, job.strategy);
  if (const auto& host = job.profile.device.host_bandwidth) {
    read.snapshot = BytesPerSecond(host->value);
  }
  checkpoint_fields().read(reader, read);
  settings.loading = settings.size / read.read;
  const Seconds storing = settings.size / read.storage;
  settings.blocking = storing;
  if (read.is_asynchronous) {
    const double ranks = job.strategy.ranks();
    settings.blocking = settings.size / ranks / read.snapshot.value_or(BytesPerSecond(1.0));
    settings.persisting = storing;
    if (settings.how == IntervalBy::given && settings.interval < storing) {
      reader.report("interval", "a checkpoint begins before the one before is stored",
                    fmt::format("storing takes {}", short_text(storing)),
                    "take a longer interval, or faster storage");
    }
  }
  if (read.local) {
    const Seconds one = settings.size / static_cast<double>(nodes) / read.local->bandwidth;
    settings.local = {.interval = read.local->interval,
                      .blocking = one,
                      .loading = one,
                      .survives_lost_nodes = read.local->survives_lost_nodes};
  }
  return settings;
}

}  // namespace headway
