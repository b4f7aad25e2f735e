#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/words.h"

namespace headway {

enum class Normalization { layer_norm, rms_norm };
template <>
inline constexpr Word<Normalization> kWords<Normalization>[] = {
    {"layer_norm", Normalization::layer_norm}, {"rms_norm", Normalization::rms_norm}};

enum class PositionEncoding { learned, rotary, none };
template <>
inline constexpr Word<PositionEncoding> kWords<PositionEncoding>[] = {
    {"learned", PositionEncoding::learned},
    {"rotary", PositionEncoding::rotary},
    {"none", PositionEncoding::none}};

/// Many MLPs, the experts, in the place of one: a router sends each token to a few of them
/// (Shazeer et al. 2017; Fedus et al. 2021).
struct MixtureOfExperts {
  std::int64_t experts = 2;
  std::int64_t experts_per_token = 1;  ///< at most `experts`
  std::int64_t expert_hidden = 1;      ///< inner size of one expert
  std::int64_t groups = 1;             ///< of equally many experts each
  std::int64_t groups_per_token = 1;   ///< whose experts a token chooses among; at most `groups`
  /// Inner size of the MLP that every token passes beside its experts; 0 if there is none.
  std::int64_t shared_expert_hidden = 0;
  std::int64_t leading_dense_layers = 0;
  std::int64_t interval = 1;  ///< after the leading ones, the last of every so many layers has them
  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

/// Multi-head latent attention (DeepSeek-V2, 2024, section 2.1): queries, and keys with values,
/// pass through a narrow layer; a part of each query and key carries the position, and all heads
/// share that part of the key.
struct LatentAttention {
  std::int64_t query_rank = 0;  ///< 0: queries are projected at once
  std::int64_t key_value_rank = 1;
  std::int64_t head_size_without_rotary = 1;
  std::int64_t rotary_head_size = 1;
  std::int64_t value_head_size = 1;
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Layers that attend to the last `size` positions only (Beltagy et al. 2020).
struct SlidingWindow {
  std::int64_t size = 1;
  /// The last of every so many layers attends to the whole sequence; 0: none does.
  std::int64_t full_attention_interval = 0;
  friend bool operator==(const SlidingWindow&, const SlidingWindow&) = default;
};

/// Latent attention to a few positions (DeepSeek-V3.2, 2025, section 2.1): an indexer of narrow
/// heads scores all that came before, and attention takes the best. Its heads share one key, which
/// is the compressed one itself.
struct SparseAttention {
  std::int64_t positions = 1;  ///< that a position attends to
  std::int64_t index_heads = 1;
  std::int64_t index_head_size = 1;
  friend bool operator==(const SparseAttention&, const SparseAttention&) = default;
};

/// Mamba-2 (Dao and Gu 2024, arXiv:2405.21060): heads hand a state of `head_size` x `state_size`
/// from position to position; heads of a group share what goes into the state and comes out of it.
struct StateSpace {
  std::int64_t heads = 1;  ///< a multiple of `groups`
  std::int64_t head_size = 1;
  std::int64_t state_size = 1;
  std::int64_t groups = 1;
  std::int64_t convolution = 4;  ///< positions that the convolution in front sees
  std::int64_t chunk = 256;      ///< positions worked on together
  friend bool operator==(const StateSpace&, const StateSpace&) = default;
};

/// Norms of what selects, without gains (Falcon Mamba, arXiv:2410.05355) or with
/// (Jamba, arXiv:2403.19887, section 6.4).
enum class SelectionNorms { none, plain, scaled };
template <>
inline constexpr Word<SelectionNorms> kWords<SelectionNorms>[] = {
    {"none", SelectionNorms::none},
    {"plain", SelectionNorms::plain},
    {"scaled", SelectionNorms::scaled}};

/// Mamba (Gu and Dao 2023, arXiv:2312.00752, section 3): every channel hands on a state of its own,
/// by steps that are made of all channels through a narrow layer, as is what goes into the states
/// and comes out of them.
struct SelectiveScan {
  std::int64_t channels = 1;
  std::int64_t state_size = 1;  ///< of a channel
  std::int64_t step_rank = 1;   ///< of the narrow layer
  std::int64_t convolution = 4;
  bool convolution_bias = true;
  bool bias = false;  ///< of the products inward and outward
  SelectionNorms norms = SelectionNorms::none;
  friend bool operator==(const SelectiveScan&, const SelectiveScan&) = default;
};

/// Gated delta net (Yang et al. 2024, arXiv:2412.06464): linear attention whose state forgets, and
/// takes back what it held for a key before it stores a value.
struct DeltaNet {
  std::int64_t key_heads = 1;    ///< and heads of queries
  std::int64_t value_heads = 1;  ///< a multiple of `key_heads`, each with a state
  std::int64_t key_head_size = 1;
  std::int64_t value_head_size = 1;
  /// Of the narrow layers that the gate is made through, and a decay for every channel of a key
  /// (Kimi Linear, arXiv:2510.26692); 0: neither has one, and each head has one decay.
  std::int64_t gate_rank = 0;
  std::int64_t convolution = 4;
  std::int64_t chunk = 64;
  /// The last of every so many layers has attention instead; 0: none has, or a pattern says which.
  std::int64_t full_attention_interval = 0;
  friend bool operator==(const DeltaNet&, const DeltaNet&) = default;
};

/// A short filter along the sequence between two gates, all three as wide as the residual stream
/// (Liquid AI 2025, LFM2, arXiv:2511.23404, section 2).
struct ShortConvolution {
  std::int64_t positions = 3;  ///< that the filter of a channel sees
  bool bias = false;           ///< of both its products and of the filter
  friend bool operator==(const ShortConvolution&, const ShortConvolution&) = default;
};

/// An encoder of images in front of a decoder: what it makes of their patches stands among the
/// words (Liu et al. 2023, arXiv:2304.08485, section 4.1).
struct VisionTower {
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;
  bool biases = true;            ///< of all its products but the one that takes pixels
  bool qkv_biases = true;        ///< where products have biases, queries, keys and values do
  bool query_key_norms = false;  ///< RMS norms of all heads together
  bool layer_scale = false;      ///< a gain a channel for what attention and the MLP give
  Normalization normalization = Normalization::layer_norm;
  std::int64_t patch_size = 14;    ///< pixels a side
  std::int64_t frames = 1;         ///< of a film, that a patch reaches over
  std::int64_t patches = 1;        ///< of an image; they attend to each other
  std::int64_t position_rows = 0;  ///< of a learned table
  /// Patches that attend to each other in layers with windows; 0: all of an image everywhere.
  std::int64_t window = 0;
  std::int64_t full_attention_interval = 0;  ///< the last of every so many layers has no windows
  std::int64_t patches_per_token = 1;        ///< that one place among the words stands for
  bool pooled = false;                       ///< into their mean, instead of set side by side
  /// Inner sizes of the MLP that gives a place among the words its channels; empty: one product.
  std::vector<std::int64_t> projector = {};
  bool projector_biases = true;
  /// Such MLPs: one, and others for what layers in between give (Qwen3-VL's DeepStack).
  std::int64_t projectors = 1;
  double image_share = 0.5;  ///< of a sequence's positions: those that are of images
  friend bool operator==(const VisionTower&, const VisionTower&) = default;
};

/// Whose elements a norm of queries and keys has gains for (Henry et al. 2020, arXiv:2010.04245;
/// Dehghani et al. 2023, arXiv:2302.05442, section 2).
enum class QueryKeyNorms {
  none,
  each_head,  ///< of one head: all queries share them, and all keys (Qwen3, Gemma 3)
  all_heads   ///< of all of them (OLMo 2)
};
template <>
inline constexpr Word<QueryKeyNorms> kWords<QueryKeyNorms>[] = {
    {"none", QueryKeyNorms::none},
    {"each_head", QueryKeyNorms::each_head},
    {"all_heads", QueryKeyNorms::all_heads}};

/// What an MLP does between its matrices.
enum class ActivationFunction {
  gelu,      ///< or SiLU, or another that frameworks have a kernel for
  gelu_new,  ///< GELU by a hyperbolic tangent, written out in elementary operations
  relu       ///< whose gradient its result tells
};
template <>
inline constexpr Word<ActivationFunction> kWords<ActivationFunction>[] = {
    {"gelu", ActivationFunction::gelu},
    {"gelu_new", ActivationFunction::gelu_new},
    {"relu", ActivationFunction::relu}};

/// What a layer of a pattern has instead of attention and an MLP together.
namespace half_layer {
inline constexpr char kStateSpace = 'M';
inline constexpr char kSelectiveScan = 'S';
inline constexpr char kDeltaNet = 'D';
inline constexpr char kConvolution = 'C';
inline constexpr char kAttention = '*';
inline constexpr char kMlp = '-';
inline constexpr char kExperts = 'E';
}  // namespace half_layer

/// A decoder-only transformer, as its authors publish it: dense or with experts, with grouped-query
/// or latent attention. Every count is at least 1; `attention_heads` is a multiple of `kv_heads`.
struct TransformerModel {
  std::string name = {};
  std::string source = {};  ///< where the numbers were published
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t kv_heads = 1;   ///< fewer than attention_heads: grouped-query attention
  std::int64_t head_size = 1;  ///< of queries and keys; with latent attention both parts together
  std::optional<LatentAttention> latent_attention = {};
  std::optional<SlidingWindow> sliding_window = {};
  std::optional<SparseAttention> sparse_attention = {};  ///< only with latent attention
  std::optional<StateSpace> state_space = {};            ///< of the layers that a pattern gives it
  std::optional<SelectiveScan> selective_scan = {};      ///< of layers that a pattern gives it
  std::optional<DeltaNet> delta_net = {};
  std::optional<ShortConvolution> short_convolution = {};  ///< of layers that a pattern gives it
  /// A letter a layer, of `half_layer`: each is one half of a layer, behind a norm of its own.
  /// Empty: all layers have both halves.
  std::string layer_pattern = {};
  QueryKeyNorms query_key_norms = QueryKeyNorms::none;  ///< of `normalization`'s kind
  bool attention_gate = false;  ///< a gate for each element that attention gives, made like queries
  bool attention_sinks = false;  ///< a learned logit of each head joins its softmax
  std::int64_t ffn_hidden = 1;   ///< of layers without experts
  bool gated_mlp = false;        ///< three matrices (SwiGLU) instead of two, in experts too
  ActivationFunction activation = ActivationFunction::gelu;
  std::optional<MixtureOfExperts> mixture_of_experts = {};
  /// Layers behind the last that predict a token further ahead each, in training only: each has a
  /// layer of its own and passes the output head again (DeepSeek-V3, 2024, section 2.2).
  std::int64_t multi_token_prediction_layers = 0;
  std::optional<VisionTower> vision = {};
  std::int64_t vocabulary = 1;
  bool tied_embeddings = false;  ///< the output head reuses the token embedding
  Normalization normalization = Normalization::layer_norm;
  bool normalization_bias = true;  ///< of a layer norm; an RMS norm has none
  PositionEncoding position_encoding = PositionEncoding::learned;
  bool dropout = true;          ///< of a model with learned positions; others have none
  bool qkv_bias = true;         ///< biases of the query, key and value projections
  bool projection_bias = true;  ///< bias of the attention output projection
  bool mlp_bias = true;
  std::int64_t sequence_length =
      2048;  ///< trained at: a scenario's default, rows of a learned table

  friend bool operator==(const TransformerModel&, const TransformerModel&) = default;
};

/// Elements of a head's values.
[[nodiscard]] inline std::int64_t value_head_size(const TransformerModel& model) {
  return model.latent_attention ? model.latent_attention->value_head_size : model.head_size;
}

}  // namespace headway
