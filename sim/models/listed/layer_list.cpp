#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/units.h"
#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/listed/layer_operators.h"
#include "sim/models/lstm.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

// A list of layers, for models of no family: of operators, which know what they do to a sample, or
// of products and passes as they are given, for one sample; where samples are sequences
// ("sequence_length"), for one token. Bytes are those of 16-bit tensors.

constexpr Range kCounts = between(1, 1'000'000'000);
constexpr Range kRepeats = between(1, 10'000);
constexpr Range kWeights = between(0, 1'000'000'000'000);

void resolve_as_given(ObjectReader& reader, std::string_view key) {
  const std::optional<JsonCursor> given = reader.cursor().member(key);
  reader.resolve(key, given ? given->value() : nlohmann::json::array());
}

double elements_of(Bytes bytes) { return bytes.count() / kWorkingElement; }

void read_product(const JsonCursor& part, std::int64_t sequence_length, Layer& layer,
                  Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  Product product;
  product.name = reader.text("name", fmt::format("product {}", layer.products.size() + 1));
  product.rows_each = static_cast<double>(reader.integer("rows", kCounts, 1));
  product.outputs = static_cast<double>(reader.integer("outputs", kCounts));
  product.inputs = static_cast<double>(reader.integer("inputs", kCounts));
  product.bias = reader.flag("bias", false);
  product.reuse = reader.number("reuse", at_least(1.0), 1.0);
  if (product.reuse > product.inputs) {
    reader.report("reuse", "reuse is at most inputs",
                  fmt::format("of {:.0f} that a product takes", product.inputs),
                  "no element is read more often than a filter has places");
  }
  product.in_turns = reader.flag("in_turns", false);
  const double turns =
      product.in_turns ? launches_in_turns(static_cast<double>(sequence_length)) : 0.0;
  layer.launches.forward += kOperatorKernels + turns;
  layer.launches.backward += 2.0 * kOperatorKernels + turns;
  reader.report_unknown();
  layer.products.push_back(std::move(product));
}

void read_pass(const JsonCursor& part, Layer& layer, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  MemoryPass pass;
  pass.name = reader.text("name", fmt::format("pass {}", layer.passes.size() + 1));
  const Bytes forward = reader.quantity<Bytes>("forward", at_least(0.0));
  pass.forward = forward.count();
  pass.backward = reader.quantity<Bytes>("backward", at_least(0.0), 2.0 * forward).count();
  pass.merged = false;  // what is listed is what moves
  layer.launches.forward += kOperatorKernels;
  layer.launches.backward += kOperatorKernels;
  reader.report_unknown();
  layer.passes.push_back(std::move(pass));
}

/// Scores, softmax and weighted sum, without the products around them, which stand in the list.
/// Gives the elements around it: what it keeps.
double read_attention(const JsonCursor& part, std::int64_t sequence_length, Layer& layer,
                      Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  const auto positions = static_cast<double>(sequence_length);
  const std::int64_t heads = reader.integer("heads", kCounts);
  const std::int64_t kv_heads = reader.integer("kv_heads", kCounts, heads);
  const auto head_size = static_cast<double>(reader.integer("head_size", kCounts));
  const std::int64_t asking = reader.integer("positions", kCounts, sequence_length);
  const auto attended = static_cast<double>(reader.integer("cross", kCounts, asking));
  const AttentionCore core{.heads = static_cast<double>(heads),
                           .key_heads = static_cast<double>(kv_heads),
                           .head_size = head_size,
                           .value_head_size = head_size,
                           .causal = reader.flag("causal", false),
                           .queries = static_cast<double>(asking) / positions,
                           .keys = attended / positions};
  check_attention(reader, heads, kv_heads, core.causal, reader.has("cross"));
  layer.launches.forward += kOperatorKernels;
  layer.launches.backward += kOperatorKernels;
  layer.attention = core;
  reader.report_unknown();
  // Queries and what the core gives, keys and values.
  return 2.0 * core.head_size * (core.queries * core.heads + core.keys * core.key_heads);
}

/// What the products take.
Bytes inputs_of(const Layer& layer) {
  double elements = 0.0;
  for (const Product& product : layer.products) elements += product.rows_each * product.inputs;
  return Bytes(kWorkingElement * elements);
}

Bytes output_of(const Layer& layer) {
  if (layer.products.empty()) return Bytes(0.0);
  return Bytes(kWorkingElement * layer.products.back().rows_each * layer.products.back().outputs);
}

/// A layer of products, passes and attention as they are given; what is kept and comes out is what
/// they take and give unless it is said. `sequence_length`: 0 where samples are no sequences.
Layer read_given_layer(ObjectReader& reader, std::int64_t sequence_length) {
  Layer layer;
  for (const JsonCursor& product : reader.elements("products")) {
    read_product(product, sequence_length, layer, reader.diagnostics());
  }
  for (const JsonCursor& pass : reader.elements("passes")) {
    read_pass(pass, layer, reader.diagnostics());
  }
  double attended = 0.0;
  if (const auto attention = reader.part("attention")) {
    if (sequence_length > 0) {
      attended = read_attention(*attention, sequence_length, layer, reader.diagnostics());
    } else {
      reader.report("attention", "only positions of a sequence attend to each other", "",
                    "give the list a sequence_length");
    }
    reader.resolve("attention", attention->value());
  }
  const double weights = static_cast<double>(reader.integer("other_parameters", kWeights, 0));
  if (weights > 0.0) layer.weights.push_back({Part::other, weights});
  const Bytes kept = reader.quantity<Bytes>("kept", at_least(0.0),
                                            inputs_of(layer) + Bytes(kWorkingElement * attended));
  layer.kept.push_back({.name = "kept tensors", .elements = elements_of(kept)});
  layer.output = elements_of(reader.quantity<Bytes>("output", at_least(0.0), output_of(layer)));
  if (!reader.has("products") && !reader.has("passes") && !reader.has("attention")) {
    reader.report("products", "a layer has to do something",
                  "neither products nor passes nor attention",
                  R"(for example "kind": "linear", "outputs": 1024)");
  }
  resolve_as_given(reader, "products");
  resolve_as_given(reader, "passes");
  return layer;
}

/// Reads layers one after the other, each of which takes what the one before gives.
class LayerListReader {
 public:
  LayerListReader(Model& model, Diagnostics& diagnostics)
      : model_(model),
        diagnostics_(diagnostics),
        writer_(static_cast<double>(model.sequence_length)) {}

  void read(const JsonCursor& part) {
    ObjectReader reader(part, diagnostics_);
    if (!part.is_object()) {  // which the reader has said
      is_lost_ = true;
      shape_.reset();
      return;
    }
    const std::string name = reader.text("name", "layer");
    const auto repeat = static_cast<int>(reader.integer("repeat", kRepeats, 1));
    const bool has_operators = reader.has("operators");
    Layer layer;
    if (has_operators && reader.has("kind")) {
      reader.report("kind", "a layer is one operator or several", "beside \"operators\"",
                    "leave one of them out");
      static_cast<void>(reader.part("kind"));  // known, though nobody reads it
    }
    if (has_operators || reader.has("kind")) {
      layer = has_operators ? of_operators(reader, repeat) : of_one(reader, repeat);
    } else {
      const std::optional<KeptTensor> before = writer_.left();
      layer = read_given_layer(reader, model_.has_tokens ? model_.sequence_length : 0);
      if (before) layer.kept.push_back(*before);
      layer.input = output_ > 0.0 ? output_ : elements_of(inputs_of(layer));
      shape_.reset();
      is_lost_ = false;
    }
    reader.report_unknown();
    layer.name = name;
    output_ = layer.output;
    append_layers(model_, std::move(layer), repeat);
  }

  /// The loss, behind the last layer.
  [[nodiscard]] Layer loss() {
    Layer layer{.name = "loss", .input = output_};
    if (const auto before = writer_.left()) layer.kept.push_back(*before);
    return layer;
  }

 private:
  Layer of_one(ObjectReader& reader, int repeat) {
    const SampleShape in = add_operator(reader);
    return finished(reader, in, repeat);
  }

  Layer of_operators(ObjectReader& reader, int repeat) {
    std::optional<SampleShape> in;
    for (const JsonCursor& part : reader.elements("operators")) {
      ObjectReader inner(part, diagnostics_);
      if (!part.is_object()) continue;  // which the reader has said
      if (inner.flag("beside", false)) {
        if (!in) inner.report("beside", "the first operator has none to stand beside");
        writer_.stand_beside();
        shape_ = in;
      }
      const SampleShape taken = add_operator(inner);
      if (!in) in = taken;
      inner.report_unknown();
    }
    if (!in) {
      reader.report("operators", "a layer has to do something", "",
                    R"(for example [{"kind": "linear", "outputs": 1024}])");
    }
    resolve_as_given(reader, "operators");
    return finished(reader, in.value_or(SampleShape()), repeat);
  }

  Layer finished(ObjectReader& reader, const SampleShape& in, int repeat) {
    const SampleShape out = shape_.value_or(SampleShape());
    if (repeat > 1 && in != out) {
      reader.report("repeat", "a layer that is repeated gives what it takes",
                    fmt::format("{} and {}", shape_text(out), shape_text(in)));
    }
    return writer_.finished(in, out, repeat > 1);
  }

  /// Adds an operator to the layer; what it takes.
  SampleShape add_operator(ObjectReader& reader) {
    std::vector<std::pair<std::string_view, const LayerOperator*>> words;
    for (const LayerOperator& one : layer_operators()) words.emplace_back(one.name, &one);
    const LayerOperator& one = *reader.choice("kind", Words<const LayerOperator*>(words));
    SampleShape in = taken(reader, one);
    if (!can_be_added(reader, one, in)) {
      is_lost_ = true;
      shape_.reset();
      one.read(reader);
      static_cast<void>(reader.integers("out", kCounts, false));
      return {};
    }
    SampleShape out = one.add(reader, in, writer_);
    const auto is_too_large = [](std::int64_t size) {
      return static_cast<double>(size) > kCounts.most;
    };
    if (std::ranges::any_of(out, is_too_large)) {
      reader.report("kind", "what comes out is too large", shape_text(out),
                    "at most 1,000,000,000 each way");
      return in;
    }
    shape_ = std::move(out);
    check_output(reader);
    return in;
  }

  /// Whether it takes what comes in, and is for samples of the kind. What nobody can know behind an
  /// operator that could not be added is not told again.
  bool can_be_added(ObjectReader& reader, const LayerOperator& one, const SampleShape& in) {
    if (is_lost_) return false;
    if (one.fits(in)) return works_on_samples(reader, one, in);
    if (in.empty()) {
      reader.report("in", fmt::format("nothing says what comes into \"{}\"", one.name),
                    fmt::format("it takes {}", one.takes),
                    R"(say what comes in: "in": [3, 224, 224])");
    } else {
      reader.report("in", fmt::format("\"{}\" takes {}", one.name, one.takes), shape_text(in));
    }
    return false;
  }

  /// What comes in: as is said, or what came out before.
  SampleShape taken(ObjectReader& reader, const LayerOperator& one) {
    const auto given = reader.integers("in", kCounts, false);
    if (reader.has("in")) is_lost_ = false;
    if (given && shape_ && *given != *shape_) {
      reader.report("in", "what comes in is what the operator before gives",
                    fmt::format("{}, not {}", shape_text(*shape_), shape_text(*given)),
                    "leave it out");
    }
    if (given) return *given;
    if (shape_) return *shape_;
    if (model_.has_tokens && one.fits({model_.sequence_length})) return {model_.sequence_length};
    return {};
  }

  bool works_on_samples(ObjectReader& reader, const LayerOperator& one, const SampleShape& in) {
    if (one.rows == OperatorRows::samples && model_.has_tokens) {
      reader.report("kind", fmt::format("\"{}\" is not for sequences", one.name),
                    "the model has \"sequence_length\"");
      return false;
    }
    if (one.rows != OperatorRows::tokens) return true;
    if (!model_.has_tokens) {
      reader.report("kind", fmt::format("\"{}\" looks along a sequence", one.name), "",
                    R"(say in the model how long one is: "sequence_length")");
      return false;
    }
    if (in.front() == model_.sequence_length) return true;
    reader.report(
        "in", fmt::format("positions are the {} of \"sequence_length\"", model_.sequence_length),
        shape_text(in));
    return false;
  }

  /// Checks an operator that says what comes out of it.
  void check_output(ObjectReader& reader) {
    const auto said = reader.integers("out", kCounts, false);
    if (!said || *said == *shape_) return;
    reader.report("out", "something else comes out",
                  fmt::format("{}, not {}", shape_text(*shape_), shape_text(*said)));
  }

  Model& model_;
  Diagnostics& diagnostics_;
  LayerWriter writer_;
  std::optional<SampleShape> shape_;  ///< what came out of the last operator, where it is known
  bool is_lost_ = false;              ///< it is not, as an operator before could not be added
  double output_ = 0.0;               ///< of the last layer, elements for each token or sample
};

Model read_layer_list(ObjectReader& reader) {
  Model model{.name = reader.text("name", "listed layers"), .source = reader.text("source", "")};
  model.has_tokens = reader.has("sequence_length");
  if (model.has_tokens) {
    model.sequence_length = reader.integer("sequence_length", between(1, 1'000'000'000));
  }
  LayerListReader layers(model, reader.diagnostics());
  for (const JsonCursor& part : reader.elements("layers")) layers.read(part);
  if (model.layers.empty()) {
    reader.report("layers", "a list of layers needs one at least", "",
                  R"(for example "layers": [{"products": [{"outputs": 10, "inputs": 10}]}])");
  }
  resolve_as_given(reader, "layers");
  model.first.name = "input";
  model.last = layers.loss();
  model.last.loss_classes =
      static_cast<double>(reader.integer("loss_classes", between(0, 1'000'000'000), 0));
  if (model.last.loss_classes > 0.0) {
    model.last.passes.push_back(cross_entropy_pass(model.last.loss_classes));
  }
  model.tensor_limits = {{"layers", "a listed layer (which is never split)", 1}};
  return model;
}

}  // namespace

ModelFamily layer_list() {
  return {.name = "list",
          .what = "layers one by one, of operators or of products and passes",
          .read = read_layer_list,
          .fields = [] { return std::vector<FieldDescription>(); }};
}

}  // namespace headway
