#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/files/json_reader.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/transformer/layer_fields.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

// What reads the configurations of one family of the transformers library; for huggingface.cpp.

/// What the configurations of a family call the counts, where they do not call them as most do, and
/// what they leave out.
struct FieldNames {
  std::string_view layers = "num_hidden_layers";
  std::string_view hidden = "hidden_size";
  std::string_view attention_heads = "num_attention_heads";
  std::string_view kv_heads = "num_key_value_heads";
  std::string_view head_size = "head_dim";
  std::string_view sequence_length = "max_position_embeddings";
  std::int64_t default_attention_heads = 0;  ///< where the field may be missing
  std::int64_t default_kv_heads = 0;         ///< as many as attention has
  std::int64_t default_head_size = 0;        ///< hidden / heads
  std::int64_t default_vocabulary = 0;
  std::int64_t default_sequence_length = 0;
};

/// A family: what its configurations say beyond the counts that all share.
struct Family {
  std::string_view model_type;
  std::string_view architecture;
  FieldNames names;
  void (*read)(ObjectReader& reader, TransformerModel& model);
  bool has_experts = false;
};

[[nodiscard]] std::span<const Family> dense_families();
/// Dense ones from before Llama.
[[nodiscard]] std::span<const Family> earlier_families();
[[nodiscard]] std::span<const Family> expert_families();
/// Families with state spaces, attention to a few positions, or experts beside attention.
[[nodiscard]] std::span<const Family> hybrid_families();
/// Families whose layers are selective scans.
[[nodiscard]] std::span<const Family> scan_families();
/// Families with linear attention or short filters in the place of most attention.
[[nodiscard]] std::span<const Family> linear_families();

/// A member that is there and not null: Hugging Face writes null for "the default".
[[nodiscard]] std::optional<JsonCursor> given(const JsonCursor& object, std::string_view key);
[[nodiscard]] std::int64_t given_count(ObjectReader& reader, std::string_view key, Range range,
                                       std::int64_t fallback);
[[nodiscard]] bool given_flag(ObjectReader& reader, std::string_view key, bool fallback);
/// Whether any of these probabilities is above 0; `fallback` is what the library takes for one that
/// is not there.
[[nodiscard]] bool drops_out(ObjectReader& reader, std::initializer_list<std::string_view> keys,
                             double fallback);
/// The activation function of a plain MLP by its name in transformers; `fallback` is the one that
/// the library takes where the configuration names none.
[[nodiscard]] ActivationFunction activation_of(ObjectReader& reader, std::string_view key,
                                               std::string_view fallback);
/// The same, of `model`.
void read_activation(ObjectReader& reader, std::string_view key, std::string_view fallback,
                     TransformerModel& model);

/// Norms of queries and keys that a flag tells, with gains of `kind`.
void read_query_key_norms(ObjectReader& reader, TransformerModel& model, std::string_view key,
                          bool fallback, QueryKeyNorms kind = QueryKeyNorms::each_head);

/// Gated MLP, RMS norms, rotary positions, no biases: what most families share.
void read_llama_shape(ObjectReader& reader, TransformerModel& model);
/// The same of models that have experts of `ffn_hidden` and no other MLP.
void read_llama_shape(ObjectReader& reader, TransformerModel& model, std::int64_t ffn_hidden);

/// The interval at which "layer_types" names full attention; nothing where it is not given, or (and
/// reported) where that is not even.
[[nodiscard]] std::optional<std::int64_t> interval_of_full_attention(ObjectReader& reader);

/// ERNIE 4.5 without experts: every product has a bias, or none.
void read_ernie(ObjectReader& reader, TransformerModel& model);

/// Latent attention, from which heads follow.
void set_latent_attention(TransformerModel& model, const LatentAttention& latent);

/// Latent attention and experts as DeepSeek-V2 and those that follow it have them.
void read_deepseek(ObjectReader& reader, TransformerModel& model);

// Lists of the halves of layers, in letters of `half_layer`.

/// What a list of layers calls them, '?' for what is none; nothing where there is no list.
[[nodiscard]] std::optional<std::string> letters_of(ObjectReader& reader, std::string_view key);
/// `half` behind each of these mixers, behind the first `leading` of them an MLP.
[[nodiscard]] std::string with_second_halves(const std::string& mixers, char half,
                                             std::int64_t leading = 0);
/// A mixer a layer, as "layer_types" names them: attention or `mixer`, called `name` there, which
/// all are where the list is left out.
[[nodiscard]] std::string read_mixers(ObjectReader& reader, std::int64_t layers, char mixer,
                                      std::string_view name);
/// Attention in the layers whose numbers, from 0, are listed under `key`; `mixer` in the others.
[[nodiscard]] std::string read_listed_attention(ObjectReader& reader, std::int64_t layers,
                                                std::string_view key, char mixer);

/// What most families call the fields of a mixture, and what those call them whose layers have
/// experts at an interval.
inline constexpr ExpertKeys kUsualExpertKeys{.per_token = "num_experts_per_tok",
                                             .leading = "first_k_dense_replace",
                                             .interval = "moe_layer_freq",
                                             .groups = "n_group",
                                             .groups_per_token = "topk_group"};
inline constexpr ExpertKeys kSparseStepKeys{.per_token = "num_experts_per_tok",
                                            .leading = "mlp_only_layers",
                                            .interval = "decoder_sparse_step"};

/// As `read_deepseek`, under other names.
void read_latent_layers(ObjectReader& reader, TransformerModel& model, std::string_view experts_key,
                        std::string_view shared_key, const ExpertKeys& keys);

/// Experts of `mixture`, whose fields are called so.
void set_experts(ObjectReader& reader, TransformerModel& model, const MixtureOfExperts& mixture,
                 const ExpertKeys& keys = kUsualExpertKeys);

/// "mlp_only_layers", which have no experts, as the layers that lead; reports others. Requires the
/// interval of the mixture.
void read_single_dense_layers(ObjectReader& reader, std::int64_t layers, MixtureOfExperts& mixture);

/// "sliding_window", if it is shorter than the longest sequence, of all layers but the last of
/// every `full_attention_interval`; "layer_types", where given, says which those are.
void read_sliding_window(ObjectReader& reader, TransformerModel& model,
                         std::int64_t full_attention_interval);

/// "llama13" of llama13.json, "Qwen2-7B" of Qwen2-7B/config.json, else what the family is called.
[[nodiscard]] std::string configuration_name(const JsonCursor& config, std::string_view family);

/// What sees, of a model that sees and reads: a tower in front of a decoder as wide as that.
/// Nothing where there is none, or (and warned of) none that is known.
[[nodiscard]] std::optional<VisionTower> read_vision_config(const JsonCursor& whole,
                                                            std::int64_t width,
                                                            const SeenImages& images,
                                                            Diagnostics& diagnostics);

/// Warns of counts and sizes that nobody asked for: they may make a model that is not the one read.
void warn_of_unread_fields(ObjectReader& reader);

}  // namespace headway
