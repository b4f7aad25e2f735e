#include "sim/models/families.h"
#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

/// A decoder is what a model is if it names none.
std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names = {"transformer"};
  for (const ModelFamily& family : model_families()) names.push_back(family.name);
  return names;
}

}  // namespace

std::vector<FieldRow> model_rows() {
  return {
      {"model.schema", constant_type("headway/model/1"),
       "required in a file, optional inside a scenario",
       "Says that a file is a model, and of which version."},
      {"model.name", text_type(), R"("unnamed model")", "What reports call the model."},
      {"model.source", text_type(), "empty", "Where the numbers were published."},
      {"model.huggingface",
       {"the name of a file", file_type().schema},
       "none",
       "A Hugging Face config.json that the fields are read from. Read are llama, mistral, qwen2, "
       "qwen3, nemotron, gemma, gemma2, gemma3, gemma3_text, gpt2, gpt_neox, mpt, and with experts "
       "mixtral, deepseek_v2, deepseek_v3, kimi_k2, qwen3_moe, gpt_oss, llama4, llama4_text and "
       "grok-1.",
       "instead of the fields below",
       "a config.json may also stand where a model is named"},
      {"model.parameters", whole_type(at_least(0)), "not checked",
       "The published number of parameters. A guard against slips: held against what the fields "
       "add up to.",
       "within 0.5 % of that, unless a --set changed the model"},
      {"model.layers", whole_type(between(1, 10'000)), "required",
       "Transformer layers; or an array of objects, a list of layers.", "",
       "strategy.pipeline_parallel"},
      {"model.hidden", whole_type(between(1, 10'000'000)), "required",
       "Size of the residual stream, the model dimension."},
      {"model.attention_heads", whole_type(between(1, 100'000)), "required",
       "Query heads of a layer.", "divides hidden, unless head_size is given"},
      {"model.kv_heads", whole_type(between(1, 100'000)), "attention_heads",
       "Heads of keys and values. Fewer than attention_heads is grouped-query attention, 1 is "
       "multi-query attention.",
       "divides attention_heads", "Ainslie et al. 2023 (arXiv:2305.13245)"},
      {"model.head_size", whole_type(between(1, 100'000)), "hidden / attention_heads",
       "Elements of one head."},
      {"model.latent_attention", object_type(), "none",
       "Multi-head latent attention: queries, and keys with values, pass through a narrow layer. "
       "kv_heads and head_size then follow from it.",
       "", "DeepSeek-AI 2024 (arXiv:2405.04434), 2.1"},
      {"model.latent_attention.query_rank", whole_type(between(0, 10'000'000)), "0",
       "Size of the narrow layer of the queries. 0: they are projected at once."},
      {"model.latent_attention.key_value_rank", whole_type(between(1, 10'000'000)), "required",
       "Size of the narrow layer of keys and values."},
      {"model.latent_attention.head_size_without_rotary", whole_type(between(1, 100'000)),
       "required", "Elements of a query and key that carry no position."},
      {"model.latent_attention.rotary_head_size", whole_type(between(1, 100'000)), "required",
       "Elements of a query and key that carry the position; all heads share those of the key."},
      {"model.latent_attention.value_head_size", whole_type(between(1, 100'000)), "required",
       "Elements of a value."},
      {"model.sliding_window", object_type(), "none",
       "Layers that attend to the last positions only.", "", "Beltagy et al. 2020"},
      {"model.sliding_window.size", whole_type(between(1, 1'000'000'000)), "required",
       "Positions that a position attends to, itself included.", "",
       "profile.device.attention_window_saving"},
      {"model.sliding_window.full_attention_interval", whole_type(between(2, 10'000)),
       "no such layer", "The last of every so many layers attends to the whole sequence."},
      {"model.attention_sinks", flag_type(), "false",
       "A learned logit of each head joins its softmax, as in gpt-oss.", "",
       "profile.device.attention_sink_factor"},
      {"model.ffn_hidden", whole_type(between(1, 100'000'000)), "required",
       "Inner size of the MLP (intermediate size, FFN dimension)."},
      {"model.mlp", words_type({"plain", "gated"}), "required",
       "How many matrices the MLP has. Two if plain, three if gated (SwiGLU and relatives).", "",
       "Shazeer 2020 (arXiv:2002.05202)"},
      {"model.mixture_of_experts", object_type(), "none",
       "Many MLPs, the experts, of which a router chooses a few for each token.", "",
       "strategy.expert_parallel; Fedus et al. 2021 (arXiv:2101.03961)"},
      {"model.mixture_of_experts.experts", whole_type(between(2, 100'000)), "required",
       "Routed experts of a layer."},
      {"model.mixture_of_experts.experts_per_token", whole_type(between(1, 100'000)), "required",
       "Experts that each token passes.", "no more than there are"},
      {"model.mixture_of_experts.expert_hidden", whole_type(between(1, 100'000'000)), "required",
       "Inner size of one expert."},
      {"model.mixture_of_experts.shared_expert_hidden", whole_type(between(0, 100'000'000)), "0",
       "Inner size of the MLP that every token passes beside its experts, all shared experts "
       "together. 0: there is none."},
      {"model.mixture_of_experts.leading_dense_layers", whole_type(between(0, 10'000)), "0",
       "Layers in front that have an MLP of ffn_hidden instead."},
      {"model.mixture_of_experts.interval", whole_type(between(1, 10'000)), "1",
       "Behind the leading ones, the last of every so many layers has experts."},
      {"model.multi_token_prediction_layers", whole_type(between(0, 100)), "0",
       "Layers behind the last that predict a token further ahead each, in training. They stand on "
       "the last stage, each with a layer and a pass of the output head.",
       "", "DeepSeek-AI 2024 (arXiv:2412.19437), 2.2"},
      {"model.vocabulary", whole_type(between(1, 100'000'000)), "required",
       "Rows of the token embedding, padding included."},
      {"model.tied_embeddings", flag_type(), "false",
       "The output head reuses the token embedding."},
      {"model.normalization", words_type({"layer_norm", "rms_norm"}), R"("layer_norm")",
       "The norm before attention, before the MLP and before the output head."},
      {"model.normalization_bias", flag_type(), "true for a layer norm", "The norms have a bias.",
       "false for an RMS norm"},
      {"model.position_encoding", words_type({"learned", "rotary", "none"}), R"("learned")",
       "How positions enter. A learned table has parameters and ends at sequence_length; \"none\" "
       "stands for ALiBi too."},
      {"model.qkv_bias", flag_type(), "true", "The query, key and value projections have biases."},
      {"model.projection_bias", flag_type(), "true",
       "The output projection of attention has a bias."},
      {"model.mlp_bias", flag_type(), "true", "The matrices of the MLP have biases."},
      {"model.sequence_length", whole_type(between(1, 1'000'000'000)), "required",
       "Tokens of a sequence that the model is trained at.", "", "strategy.sequence_length"},
      {"model.family", word_type(family_names()), R"("transformer")",
       "What kind of model the fields describe: a decoder-only transformer, or what `headway list "
       "families` shows. An array of layers is a list."},
      {"model.loss_classes", whole_type(between(0, 1'000'000'000)), "0",
       "Of a list of layers: logits that a cross-entropy loss takes; 0 without one."},
      {"model.layers.name", text_type(), R"("layer")", "Of a listed layer: what it is called."},
      {"model.layers.repeat", whole_type(between(1, 10'000)), "1",
       "How many layers like this follow each other."},
      {"model.layers.products", array_type(object_type(), "objects"), "none",
       "Matrix products with weights, in the order of the forward pass.",
       "products, passes or both"},
      {"model.layers.products.name", text_type(), R"("product 1")", "What shape lists call it."},
      {"model.layers.products.rows", whole_type(between(1, 1'000'000'000)), "1",
       "Rows for each sample (each token, where samples are sequences): positions of an image."},
      {"model.layers.products.outputs", whole_type(between(1, 1'000'000'000)), "required",
       "Columns of the matrix."},
      {"model.layers.products.inputs", whole_type(between(1, 1'000'000'000)), "required",
       "Rows of the matrix; of a convolution of k x k, k k channels."},
      {"model.layers.products.bias", flag_type(), "false", "A number is added to each output."},
      {"model.layers.passes", array_type(object_type(), "objects"), "none",
       "Passes over memory beside the products: norms, activations, sums."},
      {"model.layers.passes.name", text_type(), R"("pass 1")", "What it is called."},
      {"model.layers.passes.forward", quantity_type<Bytes>({}), "required",
       "Bytes read and written for each sample in the forward pass, of 16-bit tensors."},
      {"model.layers.passes.backward", quantity_type<Bytes>({}), "twice forward",
       "The same of the backward pass."},
      {"model.layers.other_parameters", whole_type(between(0, 1'000'000'000'000)), "0",
       "Parameters that stand in no product: of norms, say."},
      {"model.layers.kept", quantity_type<Bytes>({}), "what the products take",
       "Bytes kept for the backward pass, for each sample."},
      {"model.layers.output", quantity_type<Bytes>({}), "what the last product gives",
       "Bytes that a sample hands to the next layer, and to the next pipeline stage."}};
}

}  // namespace headway
