#include "sim/base/join_words.h"
#include "sim/models/families.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/listed/layer_operators.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/vision_tower.h"
#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

/// A decoder is what a model is if it names none.
std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names = {"transformer"};
  for (const ModelFamily& family : model_families()) names.push_back(family.name);
  return names;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const LayerOperator& one : layer_operators()) names.push_back(one.name);
  return names;
}

/// Lives as long as the rows that point to it may.
std::string_view huggingface_text() {
  static const std::string text =
      "A Hugging Face config.json that the fields are read from. Read are the decoders " +
      join_words(decoder_types(), ", ") + "; and the encoders " +
      join_words(encoder_types(), ", ") + "; and of diffusers " +
      join_words(diffusion_types(), ", ") +
      ". Of models that see the tower is read too, where it is known; of others, and of those that "
      "hear, the decoder. Sequences of decoders are taken to be as long as positions were before "
      "they were stretched, where that is said, and 8,192 tokens at "
      "most: a configuration says how far a model reaches, not what it is trained at.";
  return text;
}

}  // namespace

std::vector<FieldRow> model_rows() {
  return {
      {"model.schema", constant_type("headway/model/1"),
       "required in a file, optional inside a scenario",
       "Says that a file is a model, and of which version."},
      {"model.huggingface",
       {"the name of a file", file_type().schema},
       "none",
       huggingface_text(),
       "instead of the fields below",
       "strategy.sequence_length; a config.json may also stand where a model is named"},
      {"model.images", object_type(), "none",
       "What a configuration of a model that sees does not say of its images.",
       "only with huggingface", "model.vision"},
      {"model.images.share", number_type(kImageShares), "0.5",
       "Positions of a sequence that images take, in the mean over what is trained on."},
      {"model.images.patches", whole_type(kImagePatches), "as the configuration says, or 1,024",
       "Patches of an image: 1,024 of 448 x 448 pixels in patches of 14."},
      {"model.clips", object_type(), "none",
       "What a configuration of a model that hears waveforms does not say of its clips.",
       "only with huggingface", "model.samples"},
      {"model.clips.samples", whole_type(model_limits::kSequenceLength), "250000",
       "Of the waveform of a clip, 16,000 a second."},
      {"model.parameters", whole_type(at_least(0)), "not checked",
       "The published number of parameters. A guard against slips: held against what the fields "
       "add up to.",
       "within 0.5 % of that, unless a --set changed the model"},
      {"model.family", word_type(family_names()), R"("transformer")",
       "What kind of model the fields describe: a decoder-only transformer, or what `headway list "
       "families` shows. An array of layers is a list."},
      {"model.loss_classes", whole_type(between(0, 1'000'000'000)), "0",
       "Of a list of layers: logits that a cross-entropy loss takes; 0 without one."},
      {"model.layers.name", text_type(), R"("layer")", "Of a listed layer: what it is called."},
      {"model.layers.repeat", whole_type(between(1, 10'000)), "1",
       "How many layers like this follow each other."},
      {"model.layers.kind", word_type(operator_names()), "none",
       "Of a listed layer that is one operator: which; `headway list operators` says what each "
       "does.",
       "instead of operators, or of products and passes"},
      {"model.layers.in", array_type(whole_type(between(1, 1'000'000'000)), "whole numbers"),
       "what came out of the operator before",
       "Sizes of a sample that comes in: [channels, height, width], [positions, features] or "
       "[features]."},
      {"model.layers.out", array_type(whole_type(between(1, 1'000'000'000)), "whole numbers"),
       "not checked",
       "Sizes of what comes out. A guard against slips: held against what the operator gives."},
      {"model.layers.operators", array_type(object_type(), "objects"), "none",
       "Operators that a layer is made of, in the order of the forward pass.",
       "instead of kind, or of products and passes"},
      {"model.layers.operators.kind", word_type(operator_names()), "required",
       "What the operator does; `headway list operators` says it of each."},
      {"model.layers.operators.beside", flag_type(), "false",
       "The operator takes what the layer takes, as a shortcut with a convolution does; what it "
       "gives comes out."},
      {"model.layers.operators.in",
       array_type(whole_type(between(1, 1'000'000'000)), "whole numbers"),
       "what came out of the operator before", "Sizes of a sample that comes in."},
      {"model.layers.operators.out",
       array_type(whole_type(between(1, 1'000'000'000)), "whole numbers"), "not checked",
       "Sizes of what comes out, held against what the operator gives."},
      {"model.layers.products", array_type(object_type(), "objects"), "none",
       "Matrix products with weights, in the order of the forward pass.",
       "products, passes, attention or several; or operators instead"},
      {"model.layers.products.name", text_type(), R"("product 1")", "What shape lists call it."},
      {"model.layers.products.rows", whole_type(between(1, 1'000'000'000)), "1",
       "Rows for each sample (each token, where samples are sequences): positions of an image."},
      {"model.layers.products.outputs", whole_type(between(1, 1'000'000'000)), "required",
       "Columns of the matrix."},
      {"model.layers.products.inputs", whole_type(between(1, 1'000'000'000)), "required",
       "Rows of the matrix; of a convolution of k x k, k k channels."},
      {"model.layers.products.bias", flag_type(), "false", "A number is added to each output."},
      {"model.layers.products.reuse", number_type(at_least(1)), "1",
       "Products that read an element of what comes in: of a convolution, places of its filter "
       "over those that a stride passes. At most inputs."},
      {"model.layers.products.in_turns", flag_type(), "false",
       "Positions of a sequence follow each other, as those of a recurrent layer's state do."},
      {"model.layers.passes", array_type(object_type(), "objects"), "none",
       "Passes over memory beside the products: norms, activations, sums."},
      {"model.layers.passes.name", text_type(), R"("pass 1")", "What it is called."},
      {"model.layers.passes.forward", quantity_type<Bytes>({}), "required",
       "Bytes read and written for each sample in the forward pass, of 16-bit tensors."},
      {"model.layers.passes.backward", quantity_type<Bytes>({}), "twice forward",
       "The same of the backward pass."},
      {"model.layers.attention", object_type(), "none",
       "Scores, softmax and weighted sum; the products around them stand in the list.",
       "needs model.sequence_length"},
      {"model.layers.attention.heads", whole_type(between(1, 1'000'000'000)), "required",
       "Of queries."},
      {"model.layers.attention.kv_heads", whole_type(between(1, 1'000'000'000)), "heads",
       "Of keys and values.", "divide heads"},
      {"model.layers.attention.head_size", whole_type(between(1, 1'000'000'000)), "required",
       "Elements of a head's queries, keys and values."},
      {"model.layers.attention.positions", whole_type(between(1, 1'000'000'000)),
       "model.sequence_length", "That attend, for each sequence."},
      {"model.layers.attention.cross", whole_type(between(1, 1'000'000'000)), "positions",
       "Positions of another sequence that they attend to (cross attention): of what an encoder "
       "gave, say."},
      {"model.layers.attention.causal", flag_type(), "false",
       "Each position attends to those up to itself.", "not with cross"},
      {"model.layers.other_parameters", whole_type(between(0, 1'000'000'000'000)), "0",
       "Parameters that stand in no product: of norms, say."},
      {"model.layers.kept", quantity_type<Bytes>({}), "what the products and attention take",
       "Bytes kept for the backward pass, for each sample."},
      {"model.layers.output", quantity_type<Bytes>({}), "what the last product gives",
       "Bytes that a sample hands to the next layer, and to the next pipeline stage."}};
}

}  // namespace headway
