#include "sim/validate/unread_row_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/suggestion.h"

namespace headway {
namespace {

const std::vector<std::string_view>& known_fields(std::string_view part) {
  static const std::vector<std::string_view> kModelFields = {
      "name",  "kind",  "layers", "hidden", "heads", "kv_heads", "head_dim",  "ffn",
      "gated", "vocab", "seq",    "moe",    "mla",   "window",   "mtp_layers"};
  static const std::vector<std::string_view> kExpertFields = {"experts", "topk", "moe_ffn",
                                                              "dense_layers", "shared_ffn"};
  static const std::vector<std::string_view> kTrainFields = {
      "task", "precision", "tp", "pp", "vpp", "cp", "ep", "etp", "dp", "micro_batch",
      "global_batch", "sequence_parallel", "tp_overlap", "fsdp", "distributed_optimizer",
      "optimizer_shard_group", "recompute", "recompute_modules", "flash", "cuda_graph",
      "moe_dispatcher", "moe_a2a_overlap", "expert_capacity_factor", "cpu_offload_layers",
      // What others say: as the source words it, and the quotient of the batches.
      "precision_raw", "n_microbatches"};
  if (part == "train") return kTrainFields;
  return part == "model" ? kModelFields : kExpertFields;
}

}  // namespace

void UnreadRowFields::look_at(const char* name, const JsonCursor& part) {
  if (!part.is_object()) return;
  const auto& known = known_fields(name);
  for (const auto& [key, value] : part.value().items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    ++found_.try_emplace({name, key}, Found{*part.member(key)}).first->second.rows;
  }
  if (const auto experts = part.member("moe"); experts && std::string_view(name) == "model") {
    look_at("moe", *experts);
  }
}

void UnreadRowFields::warn(Diagnostics& diagnostics) const {
  for (const auto& [place, found] : found_) {
    const auto& [part, key] = place;
    const std::string meant = meant_text(key, known_fields(part));
    Diagnostic warning = found.first.problem(
        fmt::format("nothing reads \"{}\" of a row's \"{}\"", key, part),
        found.rows == 1 ? "in this row" : fmt::format("in {} rows", found.rows),
        meant.empty() ? "leave it out, if the steps were no others for it" : meant);
    warning.severity = Severity::warning;
    diagnostics.add(std::move(warning));
  }
}

}  // namespace headway
