#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/layers/layer_parts.h"

namespace headway {

// The layer language: a layer of any model is written once, as lists of what it computes, stores,
// keeps for its backward pass and exchanges. Everything that is known of a layer is a sum over
// these lists: its parameters (parameters.h), what a rank computes (work.h), what it keeps and
// makes again (kept_tensors.h), FLOPs (flops.h), bytes on wires (exchanges.h). What belongs
// together stands together: an operator says itself what it is recomputed with, a tensor which
// product it is the input of. Nothing is joined by names; these are for people.
//
// Sizes are those of the whole model; `RankShape` (rank_shape.h) says what is left of them on one
// rank.

/// A product with a matrix of weights: [rows x inputs] times [inputs x outputs].
struct Product {
  std::string name;
  Part part = Part::other;  ///< that its parameters are counted with
  Rows rows = Rows::tokens;
  double rows_each = 1.0;  ///< rows for each of those: positions of an image
  double outputs = 0.0;
  double inputs = 0.0;
  /// How many of the outputs are those of key-value heads, and how many heads that are: every
  /// tensor-parallel rank has one at least.
  double grouped_outputs = 0.0;
  double groups = 1.0;
  Split split = Split::none;
  bool bias = false;  ///< one for each output, added after a sum over ranks where inputs are split
  double copies = 1.0;         ///< experts, which expert parallelism shares out
  bool wide = false;           ///< stays in 16 bits where other products are in less
  bool gathered = false;       ///< sequence-parallel ranks gather its input from each other
  bool quantised = true;       ///< its input is cast where products are in less than 16 bits
  bool input_gradient = true;  ///< false where nothing in front of it is trained
  /// The gradient of its weights, of few outputs and many terms, is shared out over the whole
  /// device (split-K).
  bool splits_terms = false;
  /// Positions of a sequence are multiplied one after the other: what a recurrent layer does with
  /// its state. The gradient of its weights waits for all of them.
  bool in_turns = false;
  /// How often each element of its input is among `inputs`: the taps of a convolution over its
  /// stride. Memory holds it once.
  double reuse = 1.0;
  /// The share of the rate of products on plain cores that it reaches: more than 1 where minimal
  /// filtering needs fewer multiplications than are counted.
  double filtering = 1.0;
  std::optional<AdapterTarget> target = {};  ///< as what an adapter may stand beside it
  Again again = {};
};

/// Scores, softmax and weighted sum, without the products around it.
struct AttentionCore {
  double heads = 1.0;
  double key_heads = 1.0;
  double head_size = 1.0;  ///< of queries and keys
  double value_head_size = 1.0;
  bool values_differ = false;  ///< latent attention: measured shapes do not hold for it
  bool causal = true;
  double queries = 1.0;  ///< that ask, for each position of the sequence
  double keys = 1.0;     ///< that they may attend to, for each position: others' in cross attention
  /// Positions that each position attends to, itself included: the last ones, or those that it
  /// picks; without a causal mask so many on either side. 0: all.
  double window = 0.0;
  /// Of those that ask, as many attend to each other and to no others: the patches of an image; 0:
  /// all of a sequence.
  double block = 0.0;
  /// Elements of a position that whoever generates keeps for those behind it, whole on every rank
  /// (latent attention); 0: the keys and values of its key heads, which ranks share out.
  double cached = 0.0;
  bool sinks = false;    ///< a learned logit of each head joins its softmax
  bool dropout = false;  ///< of the softmax's result
  Again again = {};
};

/// A product of two tensors that the tokens themselves make, neither of them weights, for each of
/// several heads: [rows x inputs] times [inputs x outputs]. What layers with a state compute in
/// pieces of a sequence (Dao and Gu 2024, section 6), and what picks the positions of sparse
/// attention.
struct ActivationProduct {
  std::string name;
  double heads = 1.0;  ///< side by side
  double inputs = 1.0;
  double outputs = 0.0;  ///< 0: the positions up to each row's
  double trained = 0.0;  ///< of these positions, as many have a gradient; 0: all
  Cut cut = Cut::tensor;
  Again again = {};
};

/// Bytes that a pass moves for each row.
struct MovedBytes {
  double forward = 0.0;
  double backward = 0.0;
};

/// A state handed from position to position, each of its elements by itself: no product does that
/// (Gu and Dao 2023, arXiv:2312.00752, section 3.3). One kernel in fp32 on plain cores, whatever
/// precision products have.
struct StateScan {
  std::string name;
  double forward = 0.0;  ///< operations for each token
  double backward = 0.0;
  MovedBytes moved = {};  ///< meanwhile, for each token, in tensors of 16 bits
  Cut cut = Cut::tensor;
  Again again = {};
};

/// A pass over memory: normalization, residual, activation, rotary embedding, loss.
struct MemoryPass {
  std::string name;
  Rows rows = Rows::tokens;
  double forward = 0.0;  ///< bytes a row, in tensors of 16 bits; twice as many in wider ones
  double backward = 0.0;
  Cut cut = Cut::none;
  KernelChoice when = KernelChoice::always;
  Operators operators = Operators::any;
  Again again = {};
  /// What moves where kernels merge what they can, and software that merges less moves more of; or
  /// an operator's own bytes, which every software moves.
  bool merged = true;
  /// What it moves instead where what passes between layers is in fp32 and products take 16 bits.
  std::optional<MovedBytes> wide = {};
  double forward_rate = 1.0;  ///< of copies', that a framework's own kernels for images reach
  double backward_rate = 1.0;
};

/// Bytes that a cross-entropy moves for each class, as the study of public training steps fits both
/// together: 18, between 16 and 20.
inline constexpr double kCrossEntropyForward = 6.0;
inline constexpr double kCrossEntropyBackward = 12.0;

/// Parameters that stand in no product: norms, tables, sinks.
struct Weights {
  Part part = Part::other;
  double count = 0.0;
  Cut cut = Cut::none;
  double tensors = 1.0;  ///< that they are
};

/// A tensor that the forward pass leaves for the backward pass.
struct KeptTensor {
  std::string name;
  Rows rows = Rows::tokens;
  double elements = 0.0;  ///< a row
  Cut cut = Cut::none;
  double pieces = 0.0;    ///< that no cut divides further: key-value heads; 0: any cut does
  bool attended = false;  ///< for each position that a token attends to
  bool placed = false;    ///< for each place on the experts of its group
  bool gathered = false;  ///< by sequence-parallel ranks before a product that they split takes it
  Stored stored = Stored::working;
  KernelChoice when = KernelChoice::always;
  /// Kept for the gradient of a product's weights only: where adapters alone are trained, the one
  /// beside this target has to ask for it.
  bool for_weights = false;
  std::optional<AdapterTarget> target = {};
  Again again = {};
};

/// A router sends each token to some of the experts (Shazeer et al. 2017; Fedus et al. 2021).
struct ExpertRouting {
  double experts = 1.0;
  double experts_per_token = 1.0;
  double groups = 1.0;            ///< of equally many experts, neighbours on the same ranks
  double groups_per_token = 1.0;  ///< that a token's experts are of
  double inner = 0.0;  ///< size that ranks which share an expert divide
  double width = 0.0;  ///< elements of a row that is sent, and put in the order of the experts
  Again again = {};    ///< permutation and exchange of the rows
};

/// What tensor-parallel ranks exchange around products that they split: in each pass a sum over
/// ranks, or a gathering and a scattered sum, of `width` elements a token.
struct TensorExchange {
  double width = 0.0;
  /// Goes into a product of split outputs, and none of split inputs gives as much back: what is
  /// made of another sequence. Its gradient is summed, and nothing in the forward pass.
  bool only_enters = false;
  Again again = {};
};

/// A table of an embedding bag (Naumov et al. 2019, arXiv:1906.00091, section 2): each sample sums
/// up, or averages, so many of its rows.
struct EmbeddingTable {
  double rows = 1.0;
  double width = 1.0;
  double lookups = 1.0;
  /// The share of what all samples of a step look up that is not one popular row or another again,
  /// which caches have. What is left is spread evenly over the table.
  double distinct = 1.0;
};

/// How many kernels a pass launches one after the other.
struct Launches {
  double forward = 0.0;
  double backward = 0.0;
};

/// One layer, or what stands before or behind the layers of a model.
struct Layer {
  std::string name;
  double input = 0.0;   ///< elements that come in for each token (each sample, if it has none)
  double output = 0.0;  ///< elements handed on
  std::vector<Product> products;
  std::optional<AttentionCore> attention;
  std::vector<ActivationProduct> activation_products;
  std::vector<StateScan> scans;
  std::vector<MemoryPass> passes;
  std::vector<Weights> weights;
  std::vector<KeptTensor> kept;
  std::optional<ExpertRouting> routing;
  std::vector<EmbeddingTable> tables;
  std::vector<TensorExchange> exchanges;
  Launches launches;
  /// Where operators are not merged, the host's time to issue it in that of a layer with two norms
  /// that are written out, which families of such software were measured with.
  double separate_issue = 1.0;
  /// Logits a token that a cross-entropy loss takes; 0 without one.
  double loss_classes = 0.0;
};

}  // namespace headway
