#include "sim/costs/read_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/base/fingerprint.h"
#include "sim/costs/accelerators.h"
#include "sim/costs/cost_fields.h"
#include "sim/costs/read_estimate.h"
#include "sim/costs/read_measurements.h"
#include "sim/costs/read_product_tables.h"
#include "sim/costs/spread.h"
#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 2> kProfileKinds = {
    {{"measured", 0}, {"published", 1}}};

std::string read_name(ObjectReader& reader, std::string_view key) {
  std::string name = reader.text(key);
  const auto member = reader.cursor().member(key);
  if (member && member->text() && name.empty()) {
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
    const std::optional<std::string> text = member.text();
    if (!text) {
      reader.diagnostics().add(member.problem(fmt::format("\"{}\" must be a text", name)));
      continue;
    }
    line += fmt::format("{}{}: {}", line.empty() ? "" : "; ", name, *text);
  }
  if (part->is_object() && members.empty()) {
    reader.report("provenance", "a profile needs its provenance", "empty",
                  R"(for example {"device": "...", "driver": "...", "command": "..."})");
  }
  return line;
}

/// How the calibration went, by its own verdict. What one that ended early has not measured is
/// guessed or published, and looks alike; one that other work disturbed has measured that too.
void check_verdict(const JsonCursor& profile, Diagnostics& diagnostics) {
  const auto provenance = profile.member("provenance");
  const auto verdict = provenance ? provenance->member("verdict") : std::nullopt;
  const std::optional<std::string> word = verdict ? verdict->text() : std::nullopt;
  if (word != "aborted" && word != "noisy") return;
  Diagnostic warning =
      word == "aborted"
          ? verdict->problem("the calibration ended before it was through",
                             "provenance.not_measured lists what is missing",
                             "run headway-calibrate again; it says what ended it")
          : verdict->problem("the machine did other work while it was calibrated",
                             "provenance.samples says how much of it was disturbed",
                             "run headway-calibrate again while nothing else runs there");
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

/// Every precision needs both numbers, and attention one of 16 bits or more.
void check_precisions(ObjectReader& reader, const DeviceCosts& device) {
  bool has_wide_precision = false;
  for (const auto& [precision, peak] : device.peak_flops) {
    if (bytes_per_element(precision) >= 2.0) has_wide_precision = true;
    if (device.gemm_efficiency.contains(precision)) continue;
    reader.report("gemm_efficiency",
                  fmt::format("gemm_efficiency lacks \"{}\"", word_of(precision)), "",
                  "every precision of peak_flops_per_s needs an efficiency");
  }
  for (const auto& [precision, efficiency] : device.gemm_efficiency) {
    if (device.peak_flops.contains(precision)) continue;
    reader.report("peak_flops_per_s",
                  fmt::format("peak_flops_per_s lacks \"{}\"", word_of(precision)), "",
                  "every precision of gemm_efficiency needs a peak");
  }
  if (!has_wide_precision) {
    reader.report("peak_flops_per_s",
                  "a device needs the peak of a precision other than fp8 and fp4", "",
                  "attention and norms are computed in 16 or 32 bits");
  }
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
  // A profile that states every efficiency itself needs none.
  const auto rates = reader.has("rate_in_training")
                         ? read_estimates_by_precision(reader, "rate_in_training", range)
                         : std::map<Precision, Estimate>();
  std::set<Precision> lacking;  // which several precisions may ask for
  const auto take = [&](Precision precision, const ProductTable& table, Precision measured) {
    if (!device.peak_flops.contains(precision)) return;
    device.products[precision] = table;
    if (device.gemm_efficiency.contains(precision)) return;
    const auto rate = rates.find(measured);
    if (rate == rates.end()) {
      if (!lacking.insert(measured).second) return;
      reader.report("rate_in_training",
                    fmt::format("rate_in_training lacks \"{}\"", word_of(measured)), "",
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
  const std::size_t problems_before = diagnostics.errors();
  device.peak_flops = read_estimates_by_precision(reader, "peak_flops_per_s", positive());
  if (!kernels || reader.has("gemm_efficiency")) {
    device.gemm_efficiency = read_estimates_by_precision(reader, "gemm_efficiency", kShareOfPeak);
  }
  if (kernels) take_products(reader, *kernels, device);
  const bool is_understood = diagnostics.errors() == problems_before;
  if (is_understood) check_precisions(reader, device);
  device_fields().read(reader, device);
  device.gemm_table =
      read_gemm_table(reader, is_understood ? device.peak_flops : std::map<Precision, Estimate>());
  // What was measured on the machine itself takes the place of what others published.
  for (const MeasuredGemm& row : device.gemm_table) device.products.erase(row.precision);
  device.attention_table = read_attention_table(reader, attention_peak(device, is_understood));
  reader.report_unknown();
  if (device.sustained_rate && diagnostics.errors() == problems_before) {
    sustain(device, device.sustained_rate->value);
  }
  return device;
}

KernelFamily read_family(const JsonCursor& part, const DeviceCosts& device,
                         Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  KernelFamily family;
  family_fields().read(reader, family);
  const double efficiency = family.attention_rate.value * device.attention_efficiency.value;
  if (efficiency > 1.0) {
    reader.report("attention_rate", "attention would be faster than the peak of the device",
                  fmt::format("times attention_efficiency it is {:.3g}", efficiency));
  }
  reader.report_unknown();
  return family;
}

std::map<std::string, KernelFamily> read_families(ObjectReader& reader, const DeviceCosts& device) {
  std::map<std::string, KernelFamily> families;
  const auto part = reader.required_part("kernel_families");
  if (!part) return families;
  for (const auto& [name, member] : reader.members("kernel_families")) {
    families[name] = read_family(member, device, reader.diagnostics());
  }
  if (part->is_object() && families.empty()) {
    reader.report("kernel_families", "a profile needs at least one kernel family", "empty");
  }
  return families;
}

Profile read_whole(const JsonCursor& cursor, const std::optional<PublishedKernels>& kernels,
                   Diagnostics& diagnostics) {
  ObjectReader reader(cursor, diagnostics);
  Profile profile;
  if (!read_schema(reader, "headway/profile/1")) return profile;
  profile.name = read_name(reader, "name");
  profile.accelerator = read_name(reader, "accelerator");
  const int kind = reader.choice("kind", Words<int>(kProfileKinds));
  profile.kind = kProfileKinds[static_cast<std::size_t>(kind)].first;
  profile.provenance = read_provenance(reader);
  check_verdict(cursor, diagnostics);
  if (const auto device = reader.required_part("device")) {
    profile.device = read_device(*device, kernels, diagnostics);
    const auto named = cursor.member("kernels");
    const std::optional<std::string> kernels_name = named ? named->text() : std::nullopt;
    if (kernels_name && !profile.device.products.empty()) profile.device.kernels = *kernels_name;
  }
  profile.kernel_families = read_families(reader, profile.device);
  cost_fields().read(reader, profile);
  reader.part("software");
  reader.part("kernels");
  reader.part("hardware");  // accelerators.h reads these two
  reader.part("nccl");
  reader.report_unknown();
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
  return ReadProfile{std::move(profile), *cursor, fingerprint_text(compact_json(cursor->value()))};
}

}  // namespace headway
