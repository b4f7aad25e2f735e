#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "sim/files/field_table.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// The values that counts may take, wherever they are read from. Far beyond any model, and small
/// enough that no product of a few of them overflows.
namespace model_limits {
inline constexpr Range kLayers = between(1, 10'000);
inline constexpr Range kHidden = between(1, 10'000'000);
inline constexpr Range kHeads = between(1, 100'000);
inline constexpr Range kHeadSize = between(1, 100'000);
inline constexpr Range kFfnHidden = between(1, 100'000'000);
inline constexpr Range kVocabulary = between(1, 100'000'000);
inline constexpr Range kSequenceLength = between(1, 1'000'000'000);
inline constexpr Range kExperts = between(2, 100'000);
inline constexpr Range kExpertGroups = between(1, 1000);
inline constexpr Range kExpertsPerToken = between(1, 100'000);
inline constexpr Range kSharedHidden = between(0, 100'000'000);
inline constexpr Range kLeadingLayers = between(0, 10'000);
inline constexpr Range kQueryRank = between(0, 10'000'000);
inline constexpr Range kFullAttentionInterval = between(2, 10'000);
inline constexpr Range kStateSize = between(1, 100'000);
inline constexpr Range kConvolution = between(1, 10'000);
inline constexpr Range kChunk = between(1, 1'000'000);
inline constexpr Range kPredictionLayers = between(0, 100);
inline constexpr double kMostParameters = 1e15;
}  // namespace model_limits

/// Whether an MLP is gated.
inline constexpr Word<bool> kMlps[] = {{"plain", false}, {"gated", true}};

/// The fields of a "headway/model/1" object that are a decoder's.
[[nodiscard]] const FieldTable<TransformerModel>& transformer_fields();

/// Reads the explicit fields of a "headway/model/1" object. Defaults are the ones of
/// TransformerModel: those of GPT-2.
[[nodiscard]] TransformerModel read_model_fields(ObjectReader& reader);

/// hidden / attention_heads where the head size is not given; a problem at `heads_key` if that does
/// not come out even.
[[nodiscard]] std::int64_t default_head_size(std::int64_t hidden, std::int64_t attention_heads,
                                             ObjectReader& reader, std::string_view hidden_key,
                                             std::string_view heads_key,
                                             std::string_view head_size_key);

/// Reports heads of an encoder that do not share out its channels evenly.
void check_heads(std::int64_t hidden, std::int64_t attention_heads, ObjectReader& reader);

/// Reports more words to predict than a sequence has.
void check_predicted_words(std::int64_t predicted_words, std::int64_t sequence_length,
                           ObjectReader& reader);

/// Whether fields that are each right can be together; reports it if not: key-value heads that do
/// not divide the attention heads (the keys name where these stand), a size beyond all reason.
[[nodiscard]] bool check_combinations(const TransformerModel& model, const JsonCursor& object,
                                      std::string_view heads_key, std::string_view kv_heads_key,
                                      Diagnostics& diagnostics);

/// Every field written out, as `read_model` reads it back.
[[nodiscard]] nlohmann::json resolved_model(const TransformerModel& model);

}  // namespace headway
