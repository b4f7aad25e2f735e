#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/models/huggingface/huggingface_families.h"

namespace headway {
namespace {

constexpr std::array<std::string_view, 6> kEndings = {"_size",    "_layers", "_heads",
                                                      "_experts", "_dim",    "_rank"};

/// Counts and sizes that say nothing of the work of training: how text is generated and labelled,
/// fields of the library's base class, how a checkpoint was split, how much of a head turns with
/// its position, among which groups a router picks, and "max_window_layers", which holds only under
/// a flag that is warned of.
constexpr std::array<std::string_view, 13> kHarmless = {"chunk_size_feed_forward",
                                                        "num_beams",
                                                        "num_beam_groups",
                                                        "num_return_sequences",
                                                        "no_repeat_ngram_size",
                                                        "encoder_no_repeat_ngram_size",
                                                        "num_labels",
                                                        "classifier_proj_size",
                                                        "num_logits_to_keep",
                                                        "ep_size",
                                                        "rotary_dim",
                                                        "num_expert_group",
                                                        "max_window_layers"};

bool is_count_or_size(std::string_view key) {
  return key.starts_with("num_") || std::ranges::any_of(kEndings, [&](std::string_view ending) {
           return key.ends_with(ending);
         });
}

}  // namespace

void warn_of_unread_fields(ObjectReader& reader) {
  for (const auto& item : reader.cursor().value().items()) {
    const std::string& key = item.key();
    const bool counts = item.value().is_number() && item.value().get<double>() > 0.0;
    if (!counts || !is_count_or_size(key) || reader.has_asked(key)) continue;
    if (std::ranges::find(kHarmless, key) != kHarmless.end()) continue;
    Diagnostic warning = reader.cursor().member(key)->key_problem(
        fmt::format("{} is not read", in_quotes(key)),
        "what it adds to the model is not counted; leave the field out if it adds nothing");
    warning.severity = Severity::warning;
    reader.diagnostics().add(std::move(warning));
  }
}

}  // namespace headway
