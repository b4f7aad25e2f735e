#include "sim/models/transformer/wav2vec2.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

// Bytes an element, in tensors of 2 bytes.
constexpr double kChannelNorm = 6.0;  ///< read for the statistics, read again and written
constexpr double kTwoSummed = 6.0;    ///< two terms read, their sum written
constexpr double kSoftmax = 8.0;      ///< of logits and noise: two read and written, in turn
constexpr double kComparison = 6.0;   ///< a row gathered, and read where it is compared

/// What a layer has in common with a decoder's, in its words.
TransformerModel as_transformer(const Wav2Vec2Model& fields) {
  return {.layers = fields.layers,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .position_encoding = PositionEncoding::learned,
          .dropout = fields.dropout,
          .sequence_length = fields.positions()};
}

/// Elements of a position that wait beside its own for the head: its code.
double waiting(const Wav2Vec2Model& fields) {
  return fields.codebooks > 0 ? real(fields.contrast_width) : 0.0;
}

void add_norm(Layer& layer, const std::string& name, double rows, double channels, double bytes) {
  layer.weights.push_back({.part = Part::normalization, .count = 2.0 * channels, .tensors = 2.0});
  add_pass(layer, name, Rows::tokens, bytes * rows * channels, Cut::none, {});
  layer.kept.push_back({.name = name + " input", .elements = rows * channels});
}

void add_activation(Layer& layer, const std::string& name, double rows, double channels) {
  add_pass(layer, name + "_activation", Rows::tokens, kReadAndWritten * rows * channels, Cut::none,
           {});
  layer.kept.push_back({.name = name + " activation input",
                        .elements = rows * channels,
                        .stored = Stored::activation_input});
}

/// Every tensor-parallel rank has all filters whole.
void add_filters(Layer& stem, const Wav2Vec2Model& fields) {
  const double positions = real(fields.positions());
  double channels = 1.0;
  double rows = real(fields.samples) / positions;
  for (std::size_t i = 0; i < fields.filter_channels.size(); ++i) {
    const std::string name = fmt::format("filter {}", i + 1);
    const double taps = real(fields.filter_kernels[i]);
    stem.kept.push_back(
        {.name = name + " input", .elements = rows * channels, .for_weights = true});
    rows = real(fields.positions_behind(i + 1)) / positions;
    stem.products.push_back({.name = name,
                             .rows_each = rows,
                             .outputs = real(fields.filter_channels[i]),
                             .inputs = taps * channels,
                             .bias = fields.filter_biases,
                             .input_gradient = i > 0,
                             .reuse = std::max(1.0, taps / real(fields.filter_strides[i])),
                             .filtering = convolution_rate(false)});
    channels = real(fields.filter_channels[i]);
    if (fields.filter_norms == FilterNorms::all) {
      add_norm(stem, name + " norm", rows, channels, kReadAndWritten);
    } else if (i == 0) {
      add_norm(stem, name + " norm", rows, channels, kChannelNorm);
    }
    add_activation(stem, name, rows, channels);
  }
}

/// Of the channels of a position in groups. Its weights have one gain for each tap, by which they
/// are scaled anew in each step: that pass over them is not counted.
void add_positions(Layer& stem, const Wav2Vec2Model& fields) {
  const double h = real(fields.hidden);
  const double taps = real(fields.position_kernel);
  const double groups = real(fields.position_groups);
  stem.kept.push_back({.name = "position filter input", .elements = h, .for_weights = true});
  stem.products.push_back({.name = "position filter",
                           .part = Part::positions,
                           .outputs = h,
                           .inputs = taps * h / groups,
                           .bias = true,
                           .reuse = taps,
                           .filtering = convolution_rate(false)});
  stem.weights.push_back({Part::positions, taps});
  if (groups > 1.0) {
    // The product has the width of one group; what the others read moves besides.
    add_pass(stem, "inputs of the other groups", Rows::tokens,
             kWorkingElement * h * (1.0 - 1.0 / groups), Cut::none, {});
  }
  add_activation(stem, "position filter", 1.0, h);
  add_pass(stem, "positions", Rows::tokens, kTwoSummed * h, Cut::none, {});
}

/// Each position takes a code of each book, softly, and with noise (Jang et al. 2016,
/// arXiv:1611.01144): all codes are weighted and summed up, which is no product but a pass over
/// them.
void add_codes(Layer& stem, const Wav2Vec2Model& fields) {
  const double features = real(fields.filter_channels.back());
  const double choices = real(fields.codebooks * fields.codes);
  const double width = real(fields.code_width);
  const double elements = real(fields.codes) * width;  // of all books together
  stem.products.push_back(
      {.name = "choice of codes", .outputs = choices, .inputs = features, .bias = true});
  add_pass(stem, "softmax of codes", Rows::tokens, kSoftmax * choices, Cut::none, {});
  stem.kept.push_back({.name = "choice of codes", .elements = choices});
  stem.weights.push_back({Part::other, elements});
  add_pass(stem, "codes", Rows::tokens, kReadAndWritten * elements, Cut::none, {});
  stem.kept.push_back({.name = "code", .elements = width, .for_weights = true});
  stem.products.push_back({.name = "code projection",
                           .outputs = real(fields.contrast_width),
                           .inputs = width,
                           .bias = true});
}

Layer stem_of(const Wav2Vec2Model& fields, const TransformerModel& shared) {
  const double h = real(fields.hidden);
  const double features = real(fields.filter_channels.back());
  Layer stem{.name = "filters", .output = h + waiting(fields)};
  add_filters(stem, fields);
  add_norm(stem, "feature norm", 1.0, features, kReadAndWritten);
  stem.kept.push_back(
      {.name = "feature projection input", .elements = features, .for_weights = true});
  stem.products.push_back(
      {.name = "feature projection", .outputs = h, .inputs = features, .bias = true});
  stem.weights.push_back({Part::other, h});  // what stands where a position is masked
  if (fields.codebooks > 0) add_codes(stem, fields);
  add_positions(stem, fields);
  add_norm(stem, "norm in front", 1.0, h, kReadAndWritten);
  add_dropout_mask(stem, shared, "features dropout mask");
  if (fields.gated_distances == 0) return stem;
  const double heads = real(fields.attention_heads);
  stem.weights.push_back({Part::positions, real(fields.gated_distances) * heads, Cut::tensor});
  stem.kept.push_back({.name = "biases of distances",
                       .elements = heads * real(fields.positions()),
                       .cut = Cut::tensor});
  return stem;
}

/// Each head makes two gates of its own part of a position's channels, of four columns each, and
/// turns the biases of that position's distances up or down.
void add_gates(Layer& layer, const Wav2Vec2Model& fields, const TransformerModel& shared) {
  if (fields.gated_distances == 0) return;
  constexpr double kColumns = 8.0;
  const double heads = real(fields.attention_heads);
  layer.products.push_back({.name = "gates of distances",
                            .part = Part::attention,
                            .rows_each = heads,
                            .outputs = kColumns,
                            .inputs = real(shared.head_size),
                            .bias = true});
  layer.weights.push_back({Part::attention, heads, Cut::tensor});
  add_pass(layer, "gated biases", Rows::tokens, kReadAndWritten * heads * real(fields.positions()),
           Cut::tensor, {});
  // Scores that are written out take them and have done with them.
  layer.kept.push_back({.name = "gated biases",
                        .elements = heads,
                        .cut = Cut::tensor,
                        .attended = true,
                        .when = KernelChoice::fused_attention});
}

/// Which letter it was, or which code among others.
Layer head_of(const Wav2Vec2Model& fields) {
  const double h = real(fields.hidden);
  const bool compares = fields.codebooks > 0;
  const double width = real(fields.contrast_width);
  const double compared = real(fields.negatives) + 1.0;
  Layer head{.name = "head", .input = h + waiting(fields)};
  head.products.push_back({.name = compares ? "context projection" : "letters",
                           .part = Part::head,
                           .outputs = compares ? width : real(fields.vocabulary),
                           .inputs = h,
                           .bias = true});
  head.kept = {{.name = "head input", .elements = h, .for_weights = true}};
  head.loss_classes = compares ? compared : real(fields.vocabulary);
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  if (!compares) return head;
  add_pass(head, "comparison", Rows::tokens, kComparison * compared * width, Cut::none, {});
  head.kept.push_back({.name = "compared codes", .elements = (compared + 1.0) * width});
  return head;
}

}  // namespace

std::int64_t Wav2Vec2Model::positions_behind(std::size_t filters) const {
  std::int64_t left = samples;
  for (std::size_t i = 0; i < filters; ++i) {
    left = std::max<std::int64_t>((left - filter_kernels[i]) / filter_strides[i] + 1, 1);
  }
  return left;
}

Model layers_of(const Wav2Vec2Model& fields) {
  const TransformerModel shared = as_transformer(fields);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = stem_of(fields, shared),
              .last = head_of(fields),
              .biases_scores = fields.gated_distances > 0,
              .has_tokens = false,
              .sequence_length = fields.positions(),
              .tensor_limits = tensor_limits(shared)};
  Layer encoder = transformer_layer(shared);
  encoder.attention->causal = false;
  add_gates(encoder, fields, shared);
  encoder.input += waiting(fields);
  encoder.output += waiting(fields);
  append_layers(model, std::move(encoder), static_cast<int>(fields.layers));
  if (fields.codebooks == 0) {
    model.left_out.emplace_back(
        "the loss sums over all ways in which letters may stand for positions: of that their "
        "probabilities are counted alone");
  }
  return model;
}

const FieldTable<Wav2Vec2Model>& wav2vec2_fields() {
  using Waves = Wav2Vec2Model;
  constexpr Range kFilterSizes = between(1, 100'000);
  constexpr auto learns_codes = [](const Waves& model) { return model.codebooks > 0; };
  static const FieldTable<Waves> kFields(
      {{"layers", whole(&Waves::layers, model_limits::kLayers).required(), "Encoder layers."},
       {"hidden", whole(&Waves::hidden, model_limits::kHidden).required(),
        "Size of the residual stream."},
       {"attention_heads", whole(&Waves::attention_heads, model_limits::kHeads).required(),
        "Attention heads.\nlimits: divide hidden"},
       {"ffn_hidden", whole(&Waves::ffn_hidden, model_limits::kFfnHidden).settled([](Waves& model) {
          model.ffn_hidden = 4 * model.hidden;
        }),
        "Inner size of the MLP.\ndefault: 4 hidden"},
       {"samples", whole(&Waves::samples, model_limits::kSequenceLength),
        R"(Of the waveform of a clip that a wav2vec 2.0 hears, 16,000 a second: 250,000 are 15.6 s. A
sequence has as many positions as its filters leave of them, about one in 320 where strides are
those of the default: 781 of 250,000.
see: Baevski et al. 2020 (arXiv:2006.11477), 4.2)"},
       {"filter_channels", wholes(&Waves::filter_channels, model_limits::kHidden),
        R"(Channels that each filter of a wav2vec 2.0 gives, the first of which takes samples.
see: Baevski et al. 2020 (arXiv:2006.11477), 4.2)"},
       {"filter_kernels", wholes(&Waves::filter_kernels, kFilterSizes),
        "Samples, or positions that the filter before gave, that each filter sees at "
        "once.\nlimits: "
        "as many as filter_channels"},
       {"filter_strides", wholes(&Waves::filter_strides, kFilterSizes),
        "Of them from one result of a filter to the next.\nlimits: as many as filter_channels"},
       {"filter_biases", flag(&Waves::filter_biases), "A number is added to each channel."},
       {"filter_norms", word(&Waves::filter_norms),
        "Behind which filters a norm stands: the first, over each of its channels, or all, over "
        "the "
        "channels of each position."},
       {"position_kernel", whole(&Waves::position_kernel, kFilterSizes),
        R"(Positions that the filter in front of the layers sees, by which each knows where it stands.
see: Baevski et al. 2020 (arXiv:2006.11477), 2)"},
       {"position_groups", whole(&Waves::position_groups, kFilterSizes),
        "Groups of its channels that see nothing of each other.\nlimits: divide hidden"},
       {"gated_distances",
        whole(&Waves::gated_distances, between(0, 1'000'000)).where([](const Waves& model) {
          return model.gated_distances > 0;
        }),
        R"(Distances that heads tell apart by a bias each, which is added to their scores as strongly as gates
of each position say (WavLM: 320).
see: Chen et al. 2021 (arXiv:2110.13900), III.A
default: 0, no such biases)"},
       {"codebooks", whole(&Waves::codebooks, between(0, 1'000)),
        R"(A wav2vec 2.0 that is pretrained tells which code stands behind a position, put together of one
of each of so many books. 0: it learns letters (CTC).
see: Baevski et al. 2020 (arXiv:2006.11477), 3)"},
       {"codes", whole(&Waves::codes, between(1, 1'000'000)).where(learns_codes),
        "Codes of each book."},
       {"code_width", whole(&Waves::code_width, model_limits::kHidden).where(learns_codes),
        "Elements of a code put together.\nlimits: codebooks divide it"},
       {"contrast_width", whole(&Waves::contrast_width, model_limits::kHidden).where(learns_codes),
        "Size of what is made of a code and of a position, which are compared."},
       {"negatives", whole(&Waves::negatives, between(1, 1'000'000)).where(learns_codes),
        "Codes of other positions that the right one is told from."},
       {"vocabulary",
        whole(&Waves::vocabulary, model_limits::kVocabulary).where([](const Waves& model) {
          return model.codebooks == 0;
        }),
        "Letters."},
       {"dropout", flag(&Waves::dropout), "As of a BERT."}});
  return kFields;
}

void check_wav2vec2(ObjectReader& reader, const Wav2Vec2Keys& keys, Wav2Vec2Model& fields) {
  check_heads(fields.hidden, fields.attention_heads, reader);
  const std::size_t filters = fields.filter_channels.size();
  const auto are_as_many = [&](std::string_view key, std::size_t count) {
    if (count == filters) return true;
    reader.report(key, fmt::format("{} has a number for each filter", key),
                  fmt::format("{}, where {} has {}", count, keys.channels, filters));
    return false;
  };
  const bool has_kernels = are_as_many(keys.kernels, fields.filter_kernels.size());
  const bool has_strides = are_as_many(keys.strides, fields.filter_strides.size());
  if (filters == 0) {
    reader.report(keys.channels, "waveforms have a filter at least", "",
                  "wav2vec 2.0 has seven, of 512 channels each");
  }
  if (filters == 0 || !has_kernels || !has_strides) {
    const Wav2Vec2Model usual;
    fields.filter_channels = usual.filter_channels;
    fields.filter_kernels = usual.filter_kernels;
    fields.filter_strides = usual.filter_strides;
  }
  const auto divide = [&](std::string_view key, std::int64_t parts, std::string_view of,
                          std::int64_t whole) {
    if (parts == 0 || whole % parts == 0) return;
    reader.report(key, fmt::format("{} must divide {}", key, of),
                  fmt::format("{} does not divide {}", parts, whole));
  };
  divide(keys.groups, fields.position_groups, "the hidden size", fields.hidden);
  divide(keys.codebooks, fields.codebooks, "the width of a code", fields.code_width);
}

namespace {

Model read_wav2vec2(ObjectReader& reader) {
  Wav2Vec2Model fields = read_family_fields(reader, wav2vec2_fields(), "encoder of waveforms");
  check_wav2vec2(reader, {}, fields);
  return layers_of(fields);
}

}  // namespace

ModelFamily wav2vec2() {
  return {.name = "wav2vec2",
          .what = "an encoder of waveforms, that learns letters or codes",
          .read = read_wav2vec2,
          .fields = [] { return wav2vec2_fields().described(); }};
}

}  // namespace headway
