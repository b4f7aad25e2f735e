#include <array>
#include <nlohmann/json.hpp>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

// Decoders of 2020 to 2023 that go by GPT-2's words.

constexpr FieldNames kGpt2Names{.layers = "n_layer",
                                .hidden = "n_embd",
                                .attention_heads = "n_head",
                                .sequence_length = "n_positions"};
constexpr FieldNames kGptNeoNames{.layers = "num_layers", .attention_heads = "num_heads"};
constexpr FieldNames kBloomNames{.layers = "n_layer",
                                 .hidden = "n_embed",
                                 .attention_heads = "n_head",
                                 .sequence_length = "seq_length",
                                 .default_sequence_length = 2048};

void read_gpt2_shape(ObjectReader& reader, TransformerModel& model) {
  model.dropout = drops_out(reader, {"embd_pdrop", "resid_pdrop", "attn_pdrop"}, 0.1);
  model.ffn_hidden = given_count(reader, "n_inner", model_limits::kFfnHidden, 4 * model.hidden);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
}

void read_gpt2(ObjectReader& reader, TransformerModel& model) {
  read_gpt2_shape(reader, model);
  read_activation(reader, "activation_function", "gelu_new", model);
}

/// StarCoder: all heads of queries share one of keys and values.
void read_gpt_bigcode(ObjectReader& reader, TransformerModel& model) {
  read_gpt2_shape(reader, model);
  read_activation(reader, "activation_function", "gelu_pytorch_tanh", model);
  if (given_flag(reader, "multi_query", true)) model.kv_heads = 1;
}

/// Every second layer attends to a window. Queries, keys and values have no biases.
void read_gpt_neo(ObjectReader& reader, TransformerModel& model) {
  model.ffn_hidden =
      given_count(reader, "intermediate_size", model_limits::kFfnHidden, 4 * model.hidden);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  read_activation(reader, "activation_function", "gelu_new", model);
  model.qkv_bias = false;
  model.dropout = drops_out(reader, {"embed_dropout", "resid_dropout", "attention_dropout"}, 0.0);
  const SlidingWindow window{
      .size = given_count(reader, "window_size", model_limits::kSequenceLength, 256),
      .full_attention_interval = 2};
  if (window.size < model.sequence_length) model.sliding_window = window;
}

/// GPT-J and CodeGen: attention without biases. It and the MLP stand side by side behind one norm,
/// of two counted, and the head has a bias, which is not: a few thousandths of a percent.
void read_gptj(ObjectReader& reader, TransformerModel& model) {
  read_gpt2(reader, model);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", false);
  model.position_encoding = PositionEncoding::rotary;
  model.qkv_bias = model.projection_bias = false;
}

/// ALiBi, which adds no parameters. The norm behind the embedding is not counted. Its GELU keeps
/// what it takes only (BloomGelu).
void read_bloom(ObjectReader& reader, TransformerModel& model) {
  read_gpt2_shape(reader, model);
  model.position_encoding = PositionEncoding::none;
}

constexpr std::array<Family, 6> kEarlierFamilies = {{
    {"gpt2", "GPT2LMHeadModel", kGpt2Names, read_gpt2},
    {"gpt_neo", "GPTNeoForCausalLM", kGptNeoNames, read_gpt_neo},
    {"gptj", "GPTJForCausalLM", kGpt2Names, read_gptj},
    {"codegen", "CodeGenForCausalLM", kGpt2Names, read_gptj},
    {"gpt_bigcode", "GPTBigCodeForCausalLM", kGpt2Names, read_gpt_bigcode},
    {"bloom", "BloomForCausalLM", kBloomNames, read_bloom},
}};

}  // namespace

std::span<const Family> earlier_families() { return kEarlierFamilies; }

}  // namespace headway
