#include <algorithm>
#include <array>

#include "sim/validate/sync/sync_kind.h"

namespace headway {

// Each is defined in the file that bears its name.
SyncKind data_parallel_rows();
SyncKind gradient_way_rows();
SyncKind served_rows();
SyncKind mlperf_image_rows();
SyncKind spread_rows();
SyncKind scaling_rows();
SyncKind generation_rows();
SyncKind overlap_rows();
SyncKind sharded_rows();
SyncKind unlike_stage_rows();
SyncKind recommendation_rows();
SyncKind parameter_server_rows();
SyncKind local_step_rows();
SyncKind streaming_rows();
SyncKind volunteer_rows();
SyncKind compression_rows();
SyncKind input_rows();
SyncKind page_cache_rows();
SyncKind preprocessing_rows();
SyncKind statistics_rows();
SyncKind recovery_rows();
SyncKind post_training_rows();
SyncKind measured_job_rows();

std::span<const SyncKind> sync_kinds() {
  // What goes by the name of a row comes before what takes any row of its kind.
  static const std::array kKinds{
      gradient_way_rows(),  served_rows(),        mlperf_image_rows(),     scaling_rows(),
      data_parallel_rows(), spread_rows(),        generation_rows(),       overlap_rows(),
      sharded_rows(),       unlike_stage_rows(),  parameter_server_rows(), local_step_rows(),
      streaming_rows(),     volunteer_rows(),     compression_rows(),      input_rows(),
      page_cache_rows(),    statistics_rows(),    recommendation_rows(),   preprocessing_rows(),
      recovery_rows(),      post_training_rows(), measured_job_rows()};
  return kKinds;
}

const SyncKind* sync_kind_of(const SyncRow& row) {
  const auto found =
      std::ranges::find_if(sync_kinds(), [&](const SyncKind& kind) { return kind.takes(row); });
  return found == sync_kinds().end() ? nullptr : &*found;
}

}  // namespace headway
