#include "sim/model/huggingface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/model/model_fields.h"

namespace headway {
namespace {

/// What the configurations of a family call the counts.
struct FieldNames {
  std::string_view layers = "num_hidden_layers";
  std::string_view hidden = "hidden_size";
  std::string_view attention_heads = "num_attention_heads";
  std::string_view kv_heads = "num_key_value_heads";
  std::string_view head_size = "head_dim";
  std::string_view sequence_length = "max_position_embeddings";
};
constexpr FieldNames kLlamaNames{};
constexpr FieldNames kGpt2Names{.layers = "n_layer",
                                .hidden = "n_embd",
                                .attention_heads = "n_head",
                                .sequence_length = "n_positions"};
constexpr FieldNames kMptNames{.layers = "n_layers",
                               .hidden = "d_model",
                               .attention_heads = "n_heads",
                               .sequence_length = "max_seq_len"};

/// A member that is there and not null: Hugging Face writes null for "the default".
std::optional<JsonCursor> given(const JsonCursor& object, std::string_view key) {
  std::optional<JsonCursor> value = object.member(key);
  if (value && value->value().is_null()) return std::nullopt;
  return value;
}

std::int64_t count(ObjectReader& reader, std::string_view key, Range range, std::int64_t fallback) {
  return given(reader.cursor(), key) ? reader.integer(key, range) : fallback;
}

bool flag(ObjectReader& reader, std::string_view key, bool fallback) {
  return given(reader.cursor(), key) ? reader.flag(key, fallback) : fallback;
}

// What a family adds to the counts that all share. Defaults are those of its configuration class in
// the transformers library.

void read_llama_mlp(ObjectReader& reader, TransformerModel& model) {
  model.gated_mlp = true;
  model.normalization = Normalization::rms_norm;
  model.normalization_bias = false;
  model.position_encoding = PositionEncoding::rotary;
  model.qkv_bias = model.projection_bias = model.mlp_bias = false;
  model.ffn_hidden = reader.integer("intermediate_size", model_limits::kFfnHidden);
  model.tied_embeddings = flag(reader, "tie_word_embeddings", false);
}

/// Attention over a window is cheaper than what is predicted; say so where it would matter.
void warn_of_window(ObjectReader& reader, const TransformerModel& model) {
  const std::optional<JsonCursor> window = given(reader.cursor(), "sliding_window");
  if (!window || !window->value().is_number_integer()) return;
  const auto size = window->value().get<std::int64_t>();
  if (size <= 0 || size >= model.sequence_length) return;
  Diagnostic warning = window->problem(
      "sliding-window attention is not modelled: attention is counted over the whole sequence",
      fmt::format("{} of {} positions", size, model.sequence_length));
  warning.severity = Severity::warning;
  reader.diagnostics().add(std::move(warning));
}

void read_llama(ObjectReader& reader, TransformerModel& model) {
  read_llama_mlp(reader, model);
  model.qkv_bias = model.projection_bias = flag(reader, "attention_bias", false);
  model.mlp_bias = flag(reader, "mlp_bias", false);
}

void read_mistral(ObjectReader& reader, TransformerModel& model) {
  read_llama_mlp(reader, model);
  warn_of_window(reader, model);
}

void read_qwen2(ObjectReader& reader, TransformerModel& model) {
  read_llama_mlp(reader, model);
  model.qkv_bias = true;
  if (flag(reader, "use_sliding_window", false)) warn_of_window(reader, model);
}

/// Squared ReLU; its layer norm keeps a bias although nothing else has one.
void read_nemotron(ObjectReader& reader, TransformerModel& model) {
  read_llama(reader, model);
  model.gated_mlp = false;
  model.normalization = Normalization::layer_norm;
  model.normalization_bias = true;
}

void read_gpt2(ObjectReader& reader, TransformerModel& model) {
  model.ffn_hidden = count(reader, "n_inner", model_limits::kFfnHidden, 4 * model.hidden);
  model.tied_embeddings = flag(reader, "tie_word_embeddings", true);
}

void read_gpt_neox(ObjectReader& reader, TransformerModel& model) {
  model.ffn_hidden = reader.integer("intermediate_size", model_limits::kFfnHidden);
  model.position_encoding = PositionEncoding::rotary;
  model.qkv_bias = model.projection_bias = flag(reader, "attention_bias", true);
  model.tied_embeddings = flag(reader, "tie_word_embeddings", false);
}

/// ALiBi, which adds no parameters, unless the configuration says otherwise.
void read_mpt(ObjectReader& reader, TransformerModel& model) {
  const bool biased = !flag(reader, "no_bias", true);
  model.qkv_bias = model.projection_bias = model.mlp_bias = model.normalization_bias = biased;
  model.tied_embeddings = flag(reader, "tie_word_embeddings", true);
  model.position_encoding = PositionEncoding::none;

  double expansion = 4.0;
  if (given(reader.cursor(), "expansion_ratio")) {
    expansion = reader.number("expansion_ratio", between(0.001, 1000.0));
  }
  model.ffn_hidden = static_cast<std::int64_t>(expansion * static_cast<double>(model.hidden));
  model.ffn_hidden = std::max(model.ffn_hidden, std::int64_t{1});

  const std::optional<JsonCursor> part = given(reader.cursor(), "attn_config");
  if (!part) return;
  ObjectReader attention(*part, reader.diagnostics());
  if (flag(attention, "rope", false)) {
    model.position_encoding = PositionEncoding::rotary;
  } else if (!flag(attention, "alibi", true) && flag(reader, "learned_pos_emb", true)) {
    model.position_encoding = PositionEncoding::learned;
  }
  model.kv_heads = count(attention, "kv_n_heads", model_limits::kHeads, model.attention_heads);
  if (attention.text("attn_type", "") == "multiquery_attention") model.kv_heads = 1;
}

struct Family {
  std::string_view model_type;
  std::string_view architecture;
  const FieldNames& names;
  void (*read)(ObjectReader& reader, TransformerModel& model);
};
constexpr std::array<Family, 7> kFamilies = {{
    {"llama", "LlamaForCausalLM", kLlamaNames, read_llama},
    {"mistral", "MistralForCausalLM", kLlamaNames, read_mistral},
    {"qwen2", "Qwen2ForCausalLM", kLlamaNames, read_qwen2},
    {"nemotron", "NemotronForCausalLM", kLlamaNames, read_nemotron},
    {"gpt2", "GPT2LMHeadModel", kGpt2Names, read_gpt2},
    {"gpt_neox", "GPTNeoXForCausalLM", kLlamaNames, read_gpt_neox},
    {"mpt", "MPTForCausalLM", kMptNames, read_mpt},
}};

std::string families_help() {
  std::vector<std::string_view> names;
  names.reserve(kFamilies.size());
  for (const Family& family : kFamilies) names.push_back(family.model_type);
  return fmt::format("read are {}; any other dense model can be written out in fields of ours",
                     fmt::join(names, ", "));
}

constexpr std::array<std::string_view, 4> kExpertKeys = {"num_local_experts", "n_routed_experts",
                                                         "num_experts", "moe_num_experts"};

/// True (and reported) if the model has experts.
bool refuse_experts(const JsonCursor& config, Diagnostics& diagnostics) {
  for (const std::string_view key : kExpertKeys) {
    const std::optional<JsonCursor> experts = given(config, key);
    if (!experts || !experts->value().is_number() || experts->value().get<double>() <= 1) continue;
    diagnostics.add(experts->problem("a mixture of experts is not supported",
                                     "only dense models are", families_help()));
    return true;
  }
  return false;
}

/// By "model_type"; very old configurations have only "architectures".
const Family* find_family(const JsonCursor& config, Diagnostics& diagnostics) {
  const std::optional<JsonCursor> type = given(config, "model_type");
  if (type) {
    for (const Family& family : kFamilies) {
      if (type->value() == family.model_type) return &family;
    }
    diagnostics.add(
        type->problem("this Hugging Face model type is not supported", "", families_help()));
    return nullptr;
  }
  const std::optional<JsonCursor> architectures = given(config, "architectures");
  if (architectures && architectures->value().is_array() && !architectures->value().empty()) {
    for (const Family& family : kFamilies) {
      if (architectures->value().front() == family.architecture) return &family;
    }
  }
  diagnostics.add(config.problem("missing field \"model_type\"", "", families_help()));
  return nullptr;
}

/// Into diagnostics of this configuration alone, so that errors among them are its own.
std::optional<TransformerModel> read_config(const JsonCursor& config, Diagnostics& own) {
  ObjectReader reader(config, own);
  if (!config.value().is_object() || refuse_experts(config, own)) return std::nullopt;
  const Family* const family = find_family(config, own);
  if (family == nullptr) return std::nullopt;
  const FieldNames& names = family->names;

  TransformerModel model;
  model.name = family->model_type;
  if (given(config, "_name_or_path")) model.name = reader.text("_name_or_path", model.name);
  model.source = fmt::format("Hugging Face configuration {}", config.document().name());
  model.layers = reader.integer(names.layers, model_limits::kLayers);
  model.hidden = reader.integer(names.hidden, model_limits::kHidden);
  model.attention_heads = reader.integer(names.attention_heads, model_limits::kHeads);
  model.kv_heads = count(reader, names.kv_heads, model_limits::kHeads, model.attention_heads);
  if (given(config, names.head_size)) {
    model.head_size = reader.integer(names.head_size, model_limits::kHeadSize);
  } else {
    model.head_size = default_head_size(model.hidden, model.attention_heads, reader, names.hidden,
                                        names.attention_heads, names.head_size);
  }
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
  model.sequence_length = reader.integer(names.sequence_length, model_limits::kSequenceLength);
  family->read(reader, model);
  if (own.has_errors()) return std::nullopt;
  if (!check_combinations(model, config, names.attention_heads, names.kv_heads, own)) {
    return std::nullopt;
  }
  return model;
}

}  // namespace

bool is_huggingface_config(const JsonCursor& object) {
  return object.value().is_object() && !object.member("schema") &&
         (object.member("model_type") || object.member("architectures"));
}

std::optional<TransformerModel> read_huggingface(const JsonCursor& config,
                                                 Diagnostics& diagnostics) {
  Diagnostics own;
  const std::optional<TransformerModel> model = read_config(config, own);
  diagnostics.append(own);
  return model;
}

}  // namespace headway
