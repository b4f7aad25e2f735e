#include "calibrate/output/complete_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "calibrate/output/estimates.h"
#include "sim/base/join_words.h"
#include "sim/costs/accelerators.h"
#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

bool is_assumed(const Estimate& estimate) {
  return estimate.source.empty() || estimate.source.starts_with("assumption:");
}

/// Takes what is published where nothing was measured, and keeps account of it.
class Completion {
 public:
  void operator()(const std::string& name, Estimate& mine, const Estimate& theirs) {
    if (!is_assumed(mine)) {
      measured_.push_back(name);
    } else if (!theirs.source.empty()) {
      mine = theirs;
      published_.push_back(name);
    }
  }
  template <class Part>
  void operator()(const std::string& name, std::optional<Part>& mine,
                  const std::optional<Part>& theirs) {
    if (mine) {
      measured_.push_back(name);
    } else if (theirs) {
      mine = theirs;
      published_.push_back(name);
    }
  }
  template <class Key, class Value>
  void operator()(const std::string& name, std::map<Key, Value>& mine,
                  const std::map<Key, Value>& theirs) {
    const std::size_t before = mine.size();
    mine.insert(theirs.begin(), theirs.end());
    if (before > 0) measured_.push_back(name);
    if (mine.size() > before) {
      published_.push_back(fmt::format("{} ({} entries)", name, mine.size() - before));
    }
  }
  void measure(std::string name) { measured_.push_back(std::move(name)); }
  void publish(std::string name) { published_.push_back(std::move(name)); }
  [[nodiscard]] std::string measured() const { return joined(measured_); }
  [[nodiscard]] std::string published() const { return joined(published_); }

 private:
  [[nodiscard]] static std::string joined(const std::vector<std::string>& names) {
    return names.empty() ? "nothing" : join_words(names, ", ");
  }
  std::vector<std::string> measured_;
  std::vector<std::string> published_;
};

/// Published products of precisions that were not measured here; those that were take their places.
void complete_products(Completion& with, DeviceCosts& mine, const DeviceCosts& theirs) {
  std::map<Precision, int> measured;
  for (const MeasuredGemm& row : mine.gemm_table) ++measured[row.precision];
  for (const auto& [precision, shapes] : measured) {
    with.measure(fmt::format("{} products ({} shapes{})", word_of(precision), shapes,
                             theirs.products.contains(precision)
                                 ? fmt::format(", in place of the table {}", theirs.kernels)
                                 : ""));
  }
  for (const auto& [precision, table] : theirs.products) {
    if (measured.contains(precision)) continue;
    mine.products[precision] = table;
    mine.kernels = theirs.kernels;
    with.publish(fmt::format("{} products (table {})", word_of(precision), theirs.kernels));
  }
  if (!mine.products.empty()) {
    with("gemm_cold_operands", mine.gemm_cold_operands, theirs.gemm_cold_operands);
  }
}

void complete_device(Completion& with, DeviceCosts& mine, const DeviceCosts& theirs) {
  with("peak_flops_per_s", mine.peak_flops, theirs.peak_flops);
  with("gemm_efficiency", mine.gemm_efficiency, theirs.gemm_efficiency);
  complete_products(with, mine, theirs);
  with("memory_bytes", mine.memory_bytes, theirs.memory_bytes);
  // A rate and its share of the peak belong together.
  if (is_assumed(mine.memory_efficiency)) mine.memory_bandwidth = theirs.memory_bandwidth;
  with("memory_bandwidth", mine.memory_bandwidth, theirs.memory_bandwidth);
  with("memory_efficiency", mine.memory_efficiency, theirs.memory_efficiency);
  with("gather_efficiency", mine.gather_efficiency, theirs.gather_efficiency);
  with("sustained_rate", mine.sustained_rate, theirs.sustained_rate);
  with("gemm_inner_half", mine.gemm_inner_half, theirs.gemm_inner_half);
  with("gemm_quantisation", mine.gemm_quantisation, theirs.gemm_quantisation);
  with("gemm_overhead", mine.gemm_overhead, theirs.gemm_overhead);
  with("gradient_accumulation_bytes", mine.gradient_accumulation_bytes,
       theirs.gradient_accumulation_bytes);
  with("rate_by_recipe", mine.recipe_rate, theirs.recipe_rate);
  with("cast_bytes", mine.cast_bytes, theirs.cast_bytes);
  with("cast_bytes_by_recipe", mine.recipe_cast_bytes, theirs.recipe_cast_bytes);
  with("attention_efficiency", mine.attention_efficiency, theirs.attention_efficiency);
  with("attention_backward", mine.attention_backward, theirs.attention_backward);
  with("attention_sequence_half", mine.attention_sequence_half, theirs.attention_sequence_half);
  with("attention_head_exponent", mine.attention_head_exponent, theirs.attention_head_exponent);
  with("attention_context_factor", mine.attention_context_factor, theirs.attention_context_factor);
  with("attention_window_saving", mine.attention_window_saving, theirs.attention_window_saving);
  with("attention_sink_factor", mine.attention_sink_factor, theirs.attention_sink_factor);
  with("attention_kernels", mine.attention_kernels, theirs.attention_kernels);
  with("batched_gemm_efficiency", mine.batched_gemm_efficiency, theirs.batched_gemm_efficiency);
  with("batched_gemm_head_exponent", mine.batched_gemm_head_exponent,
       theirs.batched_gemm_head_exponent);
  with("misaligned_head_factor", mine.misaligned_head_factor, theirs.misaligned_head_factor);
  with("unfused_forward_bytes", mine.unfused_forward_bytes, theirs.unfused_forward_bytes);
  with("unfused_backward_bytes", mine.unfused_backward_bytes, theirs.unfused_backward_bytes);
  with("host_bandwidth", mine.host_bandwidth, theirs.host_bandwidth);
  with("host_memory_bandwidth", mine.host_memory_bandwidth, theirs.host_memory_bandwidth);
  with("optimizer_bytes", mine.optimizer_bytes, theirs.optimizer_bytes);
}

/// Completes experts, of which only the products are measured.
void complete_experts(Completion& with, std::optional<ExpertCosts>& mine,
                      const std::optional<ExpertCosts>& theirs) {
  if (!mine || !theirs) return with("experts", mine, theirs);
  const auto take = [&](const char* name, Estimate ExpertCosts::*member) {
    with(std::string("experts.") + name, (*mine).*member, (*theirs).*member);
  };
  take("grouped_efficiency", &ExpertCosts::grouped_efficiency);
  take("grouped_half_rows", &ExpertCosts::grouped_half_rows);
  take("permutation_bytes_per_element", &ExpertCosts::permutation_bytes);
  take("exchange_scale_up_efficiency", &ExpertCosts::exchange_scale_up);
  take("exchange_scale_out_efficiency", &ExpertCosts::exchange_scale_out);
  take("exchange_overhead_s", &ExpertCosts::exchange_overhead);
  take("exchange_seen", &ExpertCosts::exchange_seen);
  take("exchange_seen_overlapped", &ExpertCosts::exchange_seen_overlapped);
  take("layer_gap_s", &ExpertCosts::layer_gap);
  take("host_per_layer_s", &ExpertCosts::host_per_layer);
}

/// Published collectives of kinds and groups that were not measured stay, where both are of links
/// of one rate.
void complete_scope(Completion& with, const std::string& name, ScopeCosts& mine,
                    const ScopeCosts& theirs) {
  const bool was_measured = !mine.collectives.empty();
  // Measured over links of an unknown rate: nothing says what share of it that was.
  Estimate& share = mine.bandwidth_efficiency;
  if (share.source.starts_with("by definition")) share = theirs.bandwidth_efficiency;
  with(name + ".bandwidth_efficiency", mine.bandwidth_efficiency, theirs.bandwidth_efficiency);
  with(name + ".latency", mine.latency, theirs.latency);
  with(name + ".overhead", mine.overhead, theirs.overhead);
  if (!was_measured) mine.measured_bandwidth = theirs.measured_bandwidth;
  if (mine.measured_bandwidth != theirs.measured_bandwidth) return;
  for (const MeasuredCollective& one : theirs.collectives) {
    const bool is_known = std::any_of(
        mine.collectives.begin(), mine.collectives.end(),
        [&one](const auto& known) { return known.kind == one.kind && known.ranks == one.ranks; });
    if (!is_known) mine.collectives.push_back(one);
  }
}

/// How many times longer than plain streaming kernels those of published software need for their
/// bytes. The fit of the published profiles knows the rate of these alone; here bytes take the rate
/// that plain kernels were measured at. Nobody published that of plain ones: theirs here.
double software_share(const DeviceCosts& mine, const DeviceCosts& theirs) {
  const double plain = theirs.copy_efficiency.value_or(mine.memory_efficiency).value;
  return plain / theirs.memory_efficiency.value;
}

void take_longer(Estimate& bytes, double share) {
  if (bytes.source.empty()) return;
  bytes.value = rounded(bytes.value * share);
  bytes.source +=
      fmt::format("; times {:.3g}, as bytes take the rate of plain streaming kernels here", share);
}

/// Updates and casts are kernels of software: what our own take is told, and not what others' do.
void give_way(CalibratedProfile& calibrated, const DeviceCosts& published) {
  DeviceCosts& device = calibrated.profile.device;
  std::vector<std::string> told;
  const auto give = [&told](const char* what, Estimate& mine, const Estimate& theirs) {
    if (is_assumed(mine) || theirs.source.empty()) return;
    told.push_back(fmt::format("{} {:.3g} B", what, mine.value));
    mine = assumed(mine.value, 1.0, "");
  };
  give("Adam for a parameter", device.optimizer_bytes, published.optimizer_bytes);
  give("casting an element to 8 bits with its transpose", device.cast_bytes, published.cast_bytes);
  if (is_assumed(device.optimizer_bytes)) device.optimizer_curve = {};
  if (!told.empty()) {
    calibrated.provenance["own_kernels"] =
        "not used as costs, which are those of others' kernels: " + join_words(told, ", ");
  }
}

/// Bytes that are fitted to what others' kernels take, now at the rate of plain ones.
void keep_software(Profile& profile, double share, const std::vector<std::string>& families) {
  for (const std::string& name : families) {
    KernelFamily& family = profile.kernel_families.at(name);
    take_longer(family.memory_traffic, share);
    take_longer(family.loss_traffic, share);
    for (auto* bytes : {&family.unfused_forward_bytes, &family.unfused_backward_bytes}) {
      if (*bytes) take_longer(**bytes, share);
    }
  }
  DeviceCosts& device = profile.device;
  take_longer(device.optimizer_bytes, share);
  take_longer(device.cast_bytes, share);
  for (auto& [recipe, bytes] : device.recipe_cast_bytes) take_longer(bytes, share);
  take_longer(device.unfused_forward_bytes, share);
  take_longer(device.unfused_backward_bytes, share);
  if (profile.experts) take_longer(profile.experts->permutation_bytes, share);
}

}  // namespace

std::shared_ptr<const Profile> published_profile(const std::string& accelerator) {
  for (const fs::path& folder : data_folders()) {
    std::error_code none;
    std::vector<fs::path> files;
    for (const std::string& profiles : profile_folders()) {
      for (const auto& entry : fs::directory_iterator(folder / profiles, none)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      Diagnostics diagnostics;
      InputFiles inputs({}, {folder}, diagnostics);
      const auto root = inputs.open(file.string(), "calibrate/profiles");
      if (!root) continue;
      const auto named = root->member("accelerator");
      if (!named || !named->value().is_string() || named->value() != accelerator) continue;
      const auto read = read_profile(*root, inputs);
      if (read && read->profile->kind == "published") return read->profile;
    }
  }
  return nullptr;
}

void add_published(Offer& offer, const Profile& published) {
  for (const auto& [precision, peak] : published.device.peak_flops) {
    offer.peak_flops[precision] = peak.value;
  }
  offer.memory_bytes_per_s = published.device.memory_bandwidth.value;
  offer.peak_source = fmt::format("data sheet, as in profile {}", published.name);
  if (published.scale_up.measured_bandwidth) {
    offer.node_link_bytes_per_s = published.scale_up.measured_bandwidth->count();
  }
}

void complete(CalibratedProfile& calibrated, const Profile& published) {
  Profile& profile = calibrated.profile;
  Completion with;
  const bool knows_memory = !is_assumed(profile.device.memory_efficiency);
  std::vector<std::string> families;
  for (const auto& [name, family] : published.kernel_families) {
    if (!profile.kernel_families.contains(name)) families.push_back(name);
  }
  give_way(calibrated, published.device);
  complete_device(with, profile.device, published.device);
  with("kernel_families", profile.kernel_families, published.kernel_families);
  for (auto& [name, family] : profile.kernel_families) {
    // Relative to a kernel that is better here: no attention is faster than the peak.
    const double most = 1.0 / profile.device.attention_efficiency.value;
    family.attention_rate.value = std::min(family.attention_rate.value, most);
  }
  complete_scope(with, "scale_up", profile.scale_up, published.scale_up);
  complete_scope(with, "scale_out", profile.scale_out, published.scale_out);
  OverlapCosts& overlap = profile.overlap;
  with("tensor_parallel_overlapped", overlap.tensor_parallel_overlapped,
       published.overlap.tensor_parallel_overlapped);
  with("context_parallel_floor", overlap.context_parallel_floor,
       published.overlap.context_parallel_floor);
  with("gradient_reduce_floor", overlap.gradient_reduce_floor,
       published.overlap.gradient_reduce_floor);
  with("sharded_interference", overlap.sharded_interference,
       published.overlap.sharded_interference);
  complete_experts(with, profile.experts, published.experts);
  if (knows_memory) {
    keep_software(profile, software_share(profile.device, published.device), families);
  }
  with("cuda_graphs", profile.cuda_graphs, published.cuda_graphs);
  with("device_speed", profile.variation.device_speed, published.variation.device_speed);
  with("operation_time", profile.variation.operation_time, published.variation.operation_time);
  calibrated.provenance["measured_fields"] = with.measured();
  calibrated.provenance["published_fields"] =
      fmt::format("{}, as in profile {} (sources there)", with.published(), published.name);
}

}  // namespace headway
