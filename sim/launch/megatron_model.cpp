#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"
#include "sim/launch/launch_job.h"
#include "sim/launch/launched_model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

std::vector<std::string> megatron_model_flags(const JsonValue& scenario,
                                              std::vector<std::string>& remarks) {
  const nlohmann::json& model = scenario->at("model");
  if (!is_decoder(scenario)) {
    remarks.emplace_back("pretrain_gpt.py trains decoders only: the model is for another script.");
    return {};
  }
  for (const char* field : {"layer_pattern", "delta_net"}) {
    if (!model.contains(field)) continue;
    remarks.push_back(
        fmt::format("pretrain_gpt.py trains layers of attention and MLPs or experts only, and "
                    "model.{} has others: the model is for another script.",
                    field));
    return {};
  }
  std::vector<std::string> flags;
  const auto number = [&](const char* flag, const nlohmann::json& value) {
    flags.push_back(fmt::format("{} {}", flag, compact_json(value)));
  };
  number("--num-layers", model.at("layers"));
  number("--hidden-size", model.at("hidden"));
  number("--num-attention-heads", model.at("attention_heads"));
  if (model.at("kv_heads") != model.at("attention_heads")) {
    flags.emplace_back("--group-query-attention");
    number("--num-query-groups", model.at("kv_heads"));
  }
  if (model.contains("head_size")) number("--kv-channels", model.at("head_size"));
  number("--ffn-hidden-size", model.at("ffn_hidden"));
  if (model.at("mlp") == "gated") flags.emplace_back("--swiglu");
  if (model.at("normalization") == "rms_norm") flags.emplace_back("--normalization RMSNorm");
  const auto position = model.at("position_encoding").get<std::string>();
  flags.push_back("--position-embedding-type " +
                  std::string(position == word_of(PositionEncoding::rotary)    ? "rope"
                              : position == word_of(PositionEncoding::learned) ? "learned_absolute"
                                                                               : "none"));
  if (model.at("tied_embeddings") == false) {
    flags.emplace_back("--untie-embeddings-and-output-weights");
  }
  if (model.at("mlp_bias") == false) {
    flags.emplace_back("--disable-bias-linear");
    if (model.at("qkv_bias") == true) flags.emplace_back("--add-qkv-bias");
  }
  flags.emplace_back("--tokenizer-type NullTokenizer");
  number("--vocab-size", model.at("vocabulary"));
  if (const auto experts = model.find("mixture_of_experts"); experts != model.end()) {
    number("--num-experts", experts->at("experts"));
    number("--moe-router-topk", experts->at("experts_per_token"));
    if (experts->at("groups") != 1) {
      number("--moe-router-num-groups", experts->at("groups"));
      number("--moe-router-group-topk", experts->at("groups_per_token"));
    }
    number("--moe-ffn-hidden-size", experts->at("expert_hidden"));
    flags.emplace_back("--moe-grouped-gemm");
    if (experts->at("shared_expert_hidden") != 0) {
      number("--moe-shared-expert-intermediate-size", experts->at("shared_expert_hidden"));
    }
    if (experts->at("leading_dense_layers") != 0) {
      const auto dense = experts->at("leading_dense_layers").get<std::int64_t>();
      flags.push_back(fmt::format("--moe-layer-freq \"([0]*{}+[1]*{})\"", dense,
                                  model.at("layers").get<std::int64_t>() - dense));
    } else if (experts->at("interval") != 1) {
      number("--moe-layer-freq", experts->at("interval"));
    }
  }
  if (model.at("multi_token_prediction_layers") != 0) {
    number("--mtp-num-layers", model.at("multi_token_prediction_layers"));
  }
  if (const auto latent = model.find("latent_attention"); latent != model.end()) {
    flags.emplace_back("--multi-latent-attention");
    flags.emplace_back("--qk-layernorm");  // norms of what is compressed
    if (latent->at("query_rank") != 0) number("--q-lora-rank", latent->at("query_rank"));
    number("--kv-lora-rank", latent->at("key_value_rank"));
    number("--qk-head-dim", latent->at("head_size_without_rotary"));
    number("--qk-pos-emb-head-dim", latent->at("rotary_head_size"));
    number("--v-head-dim", latent->at("value_head_size"));
  }
  if (model.value("query_key_norms", "") == word_of(QueryKeyNorms::each_head)) {
    flags.emplace_back("--qk-layernorm");
  } else if (model.contains("query_key_norms")) {
    remarks.emplace_back(
        "Megatron-LM has norms of queries and keys of each head only, and is not told of "
        "model.query_key_norms.");
  }
  for (const char* field : {"sliding_window", "attention_sinks", "vision"}) {
    const auto found = model.find(field);
    if (found == model.end() || *found == false) continue;
    remarks.push_back(fmt::format("Megatron-LM is not told of model.{}.", field));
  }
  flags.emplace_back("--mock-data");
  return flags;
}

}  // namespace headway
