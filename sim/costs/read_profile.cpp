#include "sim/costs/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/fingerprint.h"
#include "sim/costs/accelerators.h"
#include "sim/costs/read_attention_table.h"
#include "sim/costs/read_estimate.h"
#include "sim/costs/read_expert_costs.h"
#include "sim/costs/read_measurements.h"
#include "sim/costs/read_product_tables.h"
#include "sim/costs/spread.h"
#include "sim/files/json_reader.h"

namespace headway {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 2> kProfileKinds = {
    {{"measured", 0}, {"published", 1}}};

std::string read_name(ObjectReader& reader, std::string_view key) {
  std::string name = reader.text(key);
  const auto member = reader.cursor().member(key);
  if (member && member->value().is_string() && name.empty()) {
    reader.report(key, fmt::format("\"{}\" must not be empty", key));
  }
  return name;
}

/// Texts by name ("device", "command", ...), as one line: "command: ...; device: ...".
std::string read_provenance(ObjectReader& reader) {
  std::string line;
  const auto part = reader.required_part("provenance");
  if (!part) return line;
  const auto members = reader.members("provenance");
  for (const auto& [name, member] : members) {
    if (!member.value().is_string()) {
      reader.diagnostics().add(member.problem(fmt::format("\"{}\" must be a text", name)));
      continue;
    }
    line +=
        fmt::format("{}{}: {}", line.empty() ? "" : "; ", name, member.value().get<std::string>());
  }
  if (part->value().is_object() && members.empty()) {
    reader.report("provenance", "a profile needs its provenance", "empty",
                  R"(for example {"device": "...", "driver": "...", "command": "..."})");
  }
  return line;
}

/// Every precision needs both numbers, and attention one of 16 bits or more.
void check_precisions(ObjectReader& reader, const DeviceCosts& device) {
  bool has_wide_precision = false;
  for (const auto& [precision, peak] : device.peak_flops) {
    if (bytes_per_element(precision) >= 2.0) has_wide_precision = true;
    if (device.gemm_efficiency.contains(precision)) continue;
    reader.report("gemm_efficiency",
                  fmt::format("gemm_efficiency lacks \"{}\"", precision_name(precision)), "",
                  "every precision of peak_flops_per_s needs an efficiency");
  }
  for (const auto& [precision, efficiency] : device.gemm_efficiency) {
    if (device.peak_flops.contains(precision)) continue;
    reader.report("peak_flops_per_s",
                  fmt::format("peak_flops_per_s lacks \"{}\"", precision_name(precision)), "",
                  "every precision of gemm_efficiency needs a peak");
  }
  if (!has_wide_precision) {
    reader.report("peak_flops_per_s",
                  "a device needs the peak of a precision other than fp8 and fp4", "",
                  "attention and norms are computed in 16 or 32 bits");
  }
}

/// Recipes other than delayed scaling, by the word that strategy.precision has for them.
std::map<Scaling, Estimate> read_recipe_casts(ObjectReader& device) {
  std::map<Scaling, Estimate> casts;
  const auto part = device.part("cast_bytes_by_recipe");
  if (!part) return casts;
  ObjectReader reader(*part, device.diagnostics());
  for (const Scaling scaling :
       {Scaling::current, Scaling::rowwise, Scaling::mxfp8, Scaling::nvfp4}) {
    const std::string_view name = recipe_name(scaling);
    if (reader.has(name)) casts[scaling] = read_estimate(reader, name, kNotNegative);
  }
  reader.finish();
  return casts;
}

int read_multiprocessors(ObjectReader& reader) {
  const double count = read_estimate(reader, "multiprocessors", between(1.0, 1 << 20)).value;
  if (std::floor(count) != count) {
    reader.report("multiprocessors", "\"multiprocessors\" must be a whole number",
                  fmt::format("{}", count));
  }
  return std::max(1, static_cast<int>(count));
}

/// Nothing if it was not understood.
std::optional<Estimate> attention_peak(const DeviceCosts& device, bool is_understood) {
  const auto precision = is_understood ? attention_precision(device) : std::nullopt;
  return precision ? std::optional(device.peak_flops.at(*precision)) : std::nullopt;
}

/// What published products give a device: how shapes differ, and the efficiency of large ones where
/// the profile does not state it, theirs times the rate in training.
void take_products(ObjectReader& reader, const PublishedKernels& kernels, DeviceCosts& device) {
  const Range range{.least = 0.0, .most = 2.0, .open = true};
  const auto rates = read_estimates_by_precision(reader, "rate_in_training", range);
  const auto take = [&](Precision precision, const ProductTable& table, Precision measured) {
    if (!device.peak_flops.contains(precision)) return;
    device.products[precision] = table;
    if (device.gemm_efficiency.contains(precision)) return;
    const auto rate = rates.find(measured);
    if (rate == rates.end()) {
      reader.report("rate_in_training",
                    fmt::format("rate_in_training lacks \"{}\"", precision_name(measured)), "",
                    "every precision that \"kernels\" measured needs one");
      return;
    }
    device.gemm_efficiency[precision] = {std::min(1.0, table.efficiency * rate->second.value),
                                         combined_spread({table.spread, rate->second.spread}),
                                         fmt::format("{} of the peak ({}), times rate_in_training",
                                                     table.efficiency, kernels.source)};
  };
  for (const auto& [precision, table] : kernels.products) take(precision, table, precision);
  // The same tensor cores multiply both 16-bit formats at the same rate.
  const auto bf16 = kernels.products.find(Precision::bf16);
  if (bf16 != kernels.products.end()) take(Precision::fp16, bf16->second, Precision::bf16);
}

DeviceCosts read_device(const JsonCursor& part, const std::optional<PublishedKernels>& kernels,
                        Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  DeviceCosts device;
  const std::size_t problems_before = diagnostics.all().size();
  device.peak_flops = read_estimates_by_precision(reader, "peak_flops_per_s", positive());
  if (!kernels || reader.has("gemm_efficiency")) {
    device.gemm_efficiency = read_estimates_by_precision(reader, "gemm_efficiency", kShareOfPeak);
  }
  if (kernels) take_products(reader, *kernels, device);
  if (reader.has("gemm_cold_operands")) {
    device.gemm_cold_operands = read_estimate(reader, "gemm_cold_operands", between(0.0, 2.0));
  }
  const bool is_understood = diagnostics.all().size() == problems_before;
  if (is_understood) check_precisions(reader, device);
  device.memory_bytes = read_estimate(reader, "memory_bytes", positive());
  device.memory_bandwidth = read_estimate(reader, "memory_bandwidth_bytes_per_s", positive());
  device.multiprocessors = read_multiprocessors(reader);

  if (reader.has("gradient_accumulation_bytes_per_weight")) {
    device.gradient_accumulation_bytes =
        read_estimate(reader, "gradient_accumulation_bytes_per_weight", kNotNegative);
  }
  device.gemm_inner_half = read_estimate(reader, "gemm_inner_half", kNotNegative);
  device.gemm_quantisation = read_estimate(reader, "gemm_quantisation", between(0.0, 1.0));
  device.gemm_overhead = read_estimate(reader, "gemm_overhead_s", kNotNegative);
  device.gemm_table =
      read_gemm_table(reader, is_understood ? device.peak_flops : std::map<Precision, Estimate>());
  device.cast_bytes = read_estimate(reader, "cast_bytes_per_element", kNotNegative);
  device.recipe_cast_bytes = read_recipe_casts(reader);

  device.attention_efficiency = read_estimate(reader, "attention_efficiency", kShareOfPeak);
  device.attention_backward = read_estimate(reader, "attention_backward", positive());
  device.attention_sequence_half = read_estimate(reader, "attention_sequence_half", kNotNegative);
  device.attention_head_exponent = read_estimate(reader, "attention_head_exponent", kNotNegative);
  device.attention_context_factor = read_estimate(reader, "attention_context_factor", positive());
  if (reader.has("attention_window_saving")) {
    device.attention_window_saving =
        read_estimate(reader, "attention_window_saving", between(0.0, 1.0));
  }
  if (reader.has("attention_sink_factor")) {
    device.attention_sink_factor = read_estimate(reader, "attention_sink_factor", at_least(1.0));
  }
  device.attention_table = read_attention_table(reader, attention_peak(device, is_understood));
  device.batched_gemm_efficiency = read_estimate(reader, "batched_gemm_efficiency", kShareOfPeak);
  if (reader.has("batched_gemm_head_exponent")) {
    device.batched_gemm_head_exponent =
        read_estimate(reader, "batched_gemm_head_exponent", between(0.0, 2.0));
  }
  device.misaligned_head_factor = read_estimate(reader, "misaligned_head_factor", at_least(1.0));
  device.unfused_forward_bytes =
      read_estimate(reader, "unfused_forward_bytes_per_score", kNotNegative);
  device.unfused_backward_bytes =
      read_estimate(reader, "unfused_backward_bytes_per_score", kNotNegative);

  device.memory_efficiency = read_estimate(reader, "memory_efficiency", kShareOfPeak);
  if (reader.has("gather_efficiency")) {
    device.gather_efficiency = read_estimate(reader, "gather_efficiency", kShareOfPeak);
  }
  device.memory_curve = read_curve(reader, "memory_curve", "traffic_bytes");
  if (reader.has("host_bandwidth_bytes_per_s")) {
    device.host_bandwidth = read_estimate(reader, "host_bandwidth_bytes_per_s", positive());
  }
  if (reader.has("host_memory_bandwidth_bytes_per_s")) {
    device.host_memory_bandwidth =
        read_estimate(reader, "host_memory_bandwidth_bytes_per_s", positive());
  }
  device.optimizer_bytes = read_estimate(reader, "optimizer_bytes_per_parameter", positive());
  device.optimizer_curve = read_curve(reader, "optimizer_curve", "weight_bytes");
  reader.finish();
  return device;
}

PublishedSteps read_published_steps(ObjectReader& holder) {
  const auto part = holder.part("published_steps");
  if (!part) return {};
  ObjectReader reader(*part, holder.diagnostics());
  PublishedSteps steps;
  constexpr Range kSome = between(1.0, 1e9);
  steps.count = static_cast<int>(reader.integer("count", kSome));
  steps.sources = static_cast<int>(reader.integer("sources", kSome));
  reader.finish();
  return steps;
}

std::map<std::string, Estimate> read_releases(ObjectReader& family) {
  std::map<std::string, Estimate> releases;
  const auto part = family.part("releases");
  if (!part) return releases;
  ObjectReader reader(*part, family.diagnostics());
  for (const auto& [name, member] : family.members("releases")) {
    releases[name] = read_estimate(reader, name, between(0.2, 5.0));
  }
  reader.finish();
  return releases;
}

KernelFamily read_family(const JsonCursor& part, const DeviceCosts& device,
                         Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  KernelFamily family;
  family.memory_traffic = read_estimate(reader, "memory_traffic", positive());
  family.attention_rate = read_estimate(reader, "attention_rate", positive());
  family.launch_gap = read_estimate(reader, "launch_gap_s", kNotNegative);
  family.host_per_layer = read_estimate(reader, "host_per_layer_s", kNotNegative);
  family.step_overhead = read_estimate(reader, "step_overhead_s", kNotNegative);

  if (reader.has("loss_traffic")) {
    family.loss_traffic = read_estimate(reader, "loss_traffic", positive());
  }
  if (reader.has("gradient_traffic")) {
    family.gradient_traffic = read_estimate(reader, "gradient_traffic", at_least(1.0));
  }
  if (reader.has("micro_batch_overhead_s")) {
    family.micro_batch_overhead = read_estimate(reader, "micro_batch_overhead_s", kNotNegative);
  }
  family.releases = read_releases(reader);
  family.published_steps = read_published_steps(reader);

  const double efficiency = family.attention_rate.value * device.attention_efficiency.value;
  if (efficiency > 1.0) {
    reader.report("attention_rate", "attention would be faster than the peak of the device",
                  fmt::format("times attention_efficiency it is {:.3g}", efficiency));
  }
  reader.finish();
  return family;
}

std::map<std::string, KernelFamily> read_families(ObjectReader& reader, const DeviceCosts& device) {
  std::map<std::string, KernelFamily> families;
  const auto part = reader.required_part("kernel_families");
  if (!part) return families;
  for (const auto& [name, member] : reader.members("kernel_families")) {
    families[name] = read_family(member, device, reader.diagnostics());
  }
  if (part->value().is_object() && families.empty()) {
    reader.report("kernel_families", "a profile needs at least one kernel family", "empty");
  }
  return families;
}

ScopeCosts read_scope(ObjectReader& profile, std::string_view key) {
  const auto part = profile.required_part(key);
  if (!part) return {};
  ObjectReader reader(*part, profile.diagnostics());
  ScopeCosts scope;
  scope.bandwidth_efficiency = read_estimate(reader, "bandwidth_efficiency", kShareOfPeak);
  scope.latency = read_estimate(reader, "latency_s", kNotNegative);
  scope.overhead = read_estimate(reader, "overhead_s", kNotNegative);
  scope.collectives = read_collectives(reader);
  if (reader.has("measured_bandwidth")) {
    scope.measured_bandwidth = reader.quantity<BytesPerSecond>("measured_bandwidth", positive());
  }
  if (reader.has("burst_bytes")) scope.burst = Bytes(reader.number("burst_bytes", positive()));
  reader.finish();
  return scope;
}

OverlapCosts read_overlap(ObjectReader& profile) {
  const auto part = profile.required_part("overlap");
  if (!part) return {};
  ObjectReader reader(*part, profile.diagnostics());
  OverlapCosts overlap;
  overlap.tensor_parallel_overlapped =
      read_estimate(reader, "tensor_parallel_overlapped", between(0.0, 1.0));
  overlap.context_parallel_floor =
      read_estimate(reader, "context_parallel_floor", between(0.0, 1.0));
  overlap.gradient_reduce_floor = read_estimate(reader, "gradient_reduce_floor", between(0.0, 1.0));
  overlap.sharded_interference = read_estimate(reader, "sharded_interference", between(0.0, 1.0));
  reader.finish();
  return overlap;
}

Variation read_variation(ObjectReader& profile) {
  const auto part = profile.required_part("variation");
  if (!part) return {};
  ObjectReader reader(*part, profile.diagnostics());
  Variation variation;
  variation.device_speed = read_estimate(reader, "device_speed", between(0.0, 1.0));
  variation.operation_time = read_estimate(reader, "operation_time", between(0.0, 1.0));
  reader.finish();
  return variation;
}

Profile read_whole(const JsonCursor& cursor, const std::optional<PublishedKernels>& kernels,
                   Diagnostics& diagnostics) {
  ObjectReader reader(cursor, diagnostics);
  read_schema(reader, "headway/profile/1");
  Profile profile;
  profile.name = read_name(reader, "name");
  profile.accelerator = read_name(reader, "accelerator");
  const int kind = reader.choice("kind", Words<int>(kProfileKinds));
  profile.kind = kProfileKinds[static_cast<std::size_t>(kind)].first;
  profile.provenance = read_provenance(reader);
  if (const auto device = reader.required_part("device")) {
    profile.device = read_device(*device, kernels, diagnostics);
  }
  profile.kernel_families = read_families(reader, profile.device);
  profile.scale_up = read_scope(reader, "scale_up");
  profile.scale_out = read_scope(reader, "scale_out");
  profile.overlap = read_overlap(reader);
  profile.experts = read_expert_costs(reader);
  profile.cuda_graphs = read_graph_costs(reader);
  profile.variation = read_variation(reader);
  profile.published_steps = read_published_steps(reader);
  reader.part("software");
  reader.part("kernels");
  reader.part("hardware");  // accelerators.h reads these two
  reader.part("nccl");
  reader.finish();
  return profile;
}

/// The profile with what its software gives; nothing if that cannot be read.
std::optional<JsonCursor> with_software(const JsonCursor& profile, InputFiles& files) {
  const auto named = profile.member("software");
  if (!named) return profile;
  const auto software = files.follow(*named, "calibrate/profiles/software");
  if (!software) return std::nullopt;
  if (!software->pointer().empty()) {
    files.diagnostics().add(named->problem("the software of a profile is a file", "an object",
                                           "write it into a file, and name that here"));
    return std::nullopt;
  }
  ObjectReader reader(*software, files.diagnostics());
  if (!read_schema(reader, "headway/software/1")) return std::nullopt;
  if (!profile.pointer().empty()) {
    files.diagnostics().add(named->problem("a profile that names its software is a file", "",
                                           "give the file's name in its place"));
    return std::nullopt;
  }
  return profile.over(*software);
}

}  // namespace

std::optional<ReadProfile> read_profile(const JsonCursor& part, InputFiles& files) {
  const auto found = files.follow(part, profile_folders());
  const auto cursor = found ? with_software(*found, files) : std::nullopt;
  if (!cursor) return std::nullopt;

  Diagnostics problems;
  const auto kernels = read_kernels_of(*cursor, files);
  if (cursor->member("kernels") && !kernels) return std::nullopt;
  auto profile = std::make_shared<const Profile>(read_whole(*cursor, kernels, problems));
  files.diagnostics().append(problems);
  if (problems.has_errors()) return std::nullopt;
  return ReadProfile{std::move(profile), *cursor, fingerprint_text(cursor->value().dump())};
}

}  // namespace headway
