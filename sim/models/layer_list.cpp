#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/units.h"
#include "sim/models/families.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

// A plain list of layers, for models of no family. Sizes are for one sample; where samples are
// sequences ("sequence_length"), for one token. Bytes are those of 16-bit tensors.

constexpr Range kCounts = between(1, 1'000'000'000);
constexpr Range kRepeats = between(1, 10'000);
constexpr Range kWeights = between(0, 1'000'000'000'000);

void resolve_as_given(ObjectReader& reader, std::string_view key) {
  const std::optional<JsonCursor> given = reader.cursor().member(key);
  reader.resolve(key, given ? given->value() : nlohmann::json::array());
}

double elements_of(Bytes bytes) { return bytes.count() / kWorkingElement; }

void read_product(const JsonCursor& part, Layer& layer, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  Product product;
  product.name = reader.text("name", fmt::format("product {}", layer.products.size() + 1));
  product.rows_each = static_cast<double>(reader.integer("rows", kCounts, 1));
  product.outputs = static_cast<double>(reader.integer("outputs", kCounts));
  product.inputs = static_cast<double>(reader.integer("inputs", kCounts));
  product.bias = reader.flag("bias", false);
  product.in_turns = reader.flag("in_turns", false);
  ++layer.launches.forward;
  layer.launches.backward += 2.0;
  reader.finish();
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
  ++layer.launches.forward;
  ++layer.launches.backward;
  reader.finish();
  layer.passes.push_back(std::move(pass));
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

struct ListedLayer {
  Layer layer;
  int repeat = 1;
};

ListedLayer read_layer(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  ListedLayer listed;
  Layer& layer = listed.layer;
  layer.name = reader.text("name", "layer");
  listed.repeat = static_cast<int>(reader.integer("repeat", kRepeats, 1));
  for (const JsonCursor& product : reader.elements("products")) {
    read_product(product, layer, diagnostics);
  }
  for (const JsonCursor& pass : reader.elements("passes")) read_pass(pass, layer, diagnostics);
  const double weights = static_cast<double>(reader.integer("other_parameters", kWeights, 0));
  if (weights > 0.0) layer.weights.push_back({Part::other, weights});
  const Bytes kept = reader.quantity<Bytes>("kept", at_least(0.0), inputs_of(layer));
  layer.kept.push_back({.name = "kept tensors", .elements = elements_of(kept)});
  layer.output = elements_of(reader.quantity<Bytes>("output", at_least(0.0), output_of(layer)));
  if (!reader.has("products") && !reader.has("passes")) {
    reader.report("products", "a layer has to do something", "neither products nor passes",
                  R"(for example "products": [{"outputs": 1024, "inputs": 1024}])");
  }
  resolve_as_given(reader, "products");
  resolve_as_given(reader, "passes");
  reader.finish();
  return listed;
}

Model read_layer_list(ObjectReader& reader) {
  Model model{.name = reader.text("name", "listed layers"), .source = reader.text("source", "")};
  model.has_tokens = reader.has("sequence_length");
  if (model.has_tokens) {
    model.sequence_length = reader.integer("sequence_length", between(1, 1'000'000'000));
  }
  double input = 0.0;
  for (const JsonCursor& part : reader.elements("layers")) {
    ListedLayer listed = read_layer(part, reader.diagnostics());
    listed.layer.input = input > 0.0 ? input : elements_of(inputs_of(listed.layer));
    input = listed.layer.output;
    append_layers(model, std::move(listed.layer), listed.repeat);
  }
  if (model.layers.empty()) {
    reader.report("layers", "a list of layers needs one at least", "",
                  R"(for example "layers": [{"products": [{"outputs": 10, "inputs": 10}]}])");
  }
  resolve_as_given(reader, "layers");
  model.first.name = "input";
  model.last = {.name = "loss", .input = input};
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
  return {.name = "list", .what = "layers one by one", .read = read_layer_list, .fields = [] {
            return std::vector<FieldDescription>();
          }};
}

}  // namespace headway
