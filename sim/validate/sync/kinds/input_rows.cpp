// What one accelerator draws from a store.
#include "sim/predict/input/input_use.h"
#include "sim/validate/sync/sync_kind.h"

namespace headway {
namespace {

SyncOutcome predict_input(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto batch = number_after(row.set_up, "batch");
  const auto bytes = number_before(row.set_up, "bytes a sample");
  const auto compute = number_after(row.set_up, "compute");
  const auto floor = number_after(row.set_up, "floor");
  const auto drawn = value_at(row, 0);
  const auto at_floor = value_at(row, 1);
  if (!batch || !bytes || !compute || !drawn) {
    return refused("the row does not say batch, bytes of a sample and time of a batch");
  }
  const InputDemand demand{.batch = Bytes(*batch * *bytes), .compute = Seconds(*compute)};
  SyncOutcome outcome;
  outcome.values = {
      {.what = "bytes/s", .published = *drawn, .predicted = demand_at(demand, 1.0).count()}};
  if (floor && at_floor) {
    outcome.values.push_back({.what = "bytes/s at the floor",
                              .published = *at_floor,
                              .predicted = demand_at(demand, *floor).count()});
  }
  return outcome;
}

}  // namespace

SyncKind input_rows() {
  return {.name = "input, storage",
          .about = "bytes that one accelerator draws from a store",
          .takes = [](const SyncRow& row) { return row.kind == "input_bound"; },
          .predict = predict_input};
}

}  // namespace headway
