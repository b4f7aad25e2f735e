#include "sim/launch/reading/megatron_model_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "sim/base/parse_number.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/models/transformer/transformer.h"

namespace headway {
namespace {

using nlohmann::json;

// Larger counts are no model's, and lists of layers of that length are not written out.
constexpr double kMostOfModel = 1e9;
constexpr int kMostLayers = 100'000;
constexpr double kVocabularyOfGpt2 = 50257.0;

class ModelReader {
 public:
  ModelReader(const StartedJob& job, std::set<std::string>& used, Diagnostics& diagnostics)
      : job_(job), given_(job.settings), used_(used), diagnostics_(diagnostics) {}

  std::optional<json> read(const std::string& name, std::optional<double> vocabulary) {
    json model = {{"schema", "headway/model/1"}, {"name", name}};
    const double layers = needed("--num-layers");
    const double hidden = needed("--hidden-size");
    const double heads = needed("--num-attention-heads");
    model["layers"] = whole(layers);
    model["hidden"] = whole(hidden);
    model["attention_heads"] = whole(heads);
    // Newer logs print a number of groups that counts only with the other flag.
    const bool is_grouped = takes("--group-query-attention") || !job_.is_log ||
                            given_.value("--num-query-groups") != "1";
    const auto groups = optional("--num-query-groups");
    if (groups && is_grouped) model["kv_heads"] = whole(*groups);
    if (const auto size = optional("--kv-channels")) model["head_size"] = whole(*size);
    read_mlp(hidden, model);
    read_ends(vocabulary, model);
    if (has_experts()) read_experts(static_cast<int>(std::min(layers, 1e5)), model);
    const bool has_norms = takes("--qk-layernorm");
    if (takes("--multi-latent-attention")) {
      read_latent_attention(model);  // whose norms are counted with it
    } else if (has_norms) {
      model["query_key_norms"] = word_of(QueryKeyNorms::each_head);
    }
    if (const auto predicted = optional("--mtp-num-layers")) {
      model["multi_token_prediction_layers"] = whole(*predicted);
    }
    if (has_failed_) return std::nullopt;
    return model;
  }

 private:
  static json whole(double value) { return static_cast<std::int64_t>(value); }

  bool takes(const char* flag) {
    used_.insert(flag);
    return given_.has(flag);
  }

  void fail(std::string message, const GivenSetting* setting, std::string help = "") {
    has_failed_ = true;
    diagnostics_.add({.message = std::move(message),
                      .location = setting == nullptr ? SourceLocation{} : setting->place,
                      .help = std::move(help)});
  }

  std::optional<double> optional(const char* flag) {
    if (!takes(flag)) return std::nullopt;
    const auto number = given_.number(flag);
    if (number && *number >= 0.0 && *number <= kMostOfModel && *number == std::floor(*number)) {
      return number;
    }
    const std::string value = given_.value(flag);
    fail(fmt::format("{} takes a whole number up to {}, not {}", flag,
                     grouped_digits(static_cast<std::int64_t>(kMostOfModel)), in_quotes(value)),
         given_.find(flag), help_for_variable(value));
    return std::nullopt;
  }

  double needed(const char* flag) {
    const auto value = optional(flag);
    if (!value && !given_.has(flag)) fail(fmt::format("{} is not given", flag), nullptr);
    if (value && *value < 1.0) {
      fail(fmt::format("{} must be at least 1", flag), given_.find(flag),
           "a model without any has nothing to train");
    }
    return value.value_or(1.0);
  }

  void read_mlp(double hidden, json& model) {
    const bool is_gated = takes("--swiglu");
    model["mlp"] = is_gated ? "gated" : "plain";
    // arguments.py: four times the residual stream, of which a gated one has two thirds.
    const double usual =
        is_gated ? std::floor(4.0 * hidden * 2.0 / 3.0 / 64.0) * 64.0 : 4.0 * hidden;
    model["ffn_hidden"] = whole(optional("--ffn-hidden-size").value_or(usual));
    if (takes("--squared-relu")) model["activation"] = "relu";
    const bool has_biases = !takes("--disable-bias-linear");
    model["mlp_bias"] = has_biases;
    model["projection_bias"] = has_biases;
    model["qkv_bias"] = takes("--add-qkv-bias") || has_biases;
    takes("--normalization");
    std::string norm = given_.value("--normalization");
    std::ranges::transform(norm, norm.begin(), [](unsigned char c) { return std::tolower(c); });
    model["normalization"] = norm == "rmsnorm" ? "rms_norm" : "layer_norm";
  }

  void read_ends(std::optional<double> vocabulary, json& model) {
    takes("--position-embedding-type");
    const std::string position = given_.value("--position-embedding-type");
    const bool is_rotary = position == "rope" || position == "yarn" || position == "mrope" ||
                           takes("--use-rotary-position-embeddings");
    const bool is_none = position == "none" || takes("--no-position-embedding");
    model["position_encoding"] = word_of(is_rotary ? PositionEncoding::rotary
                                         : is_none ? PositionEncoding::none
                                                   : PositionEncoding::learned);
    model["tied_embeddings"] = !takes("--untie-embeddings-and-output-weights");
    used_.insert("--max-position-embeddings");
    const auto positions = given_.number("--max-position-embeddings");
    const auto length = optional("--seq-length");
    if (!is_rotary && !is_none && positions && *positions >= 1.0 && *positions <= kMostOfModel) {
      model["sequence_length"] = whole(*positions);
    } else if (length) {
      model["sequence_length"] = whole(*length);
    }
    takes("--tokenizer-type");
    const auto flag = optional("--vocab-size");
    const bool is_gpt2 = given_.value("--tokenizer-type") == "GPT2BPETokenizer";
    if (!vocabulary) vocabulary = job_.vocabulary ? job_.vocabulary : flag;
    if (!vocabulary && is_gpt2) vocabulary = kVocabularyOfGpt2;
    if (!vocabulary) {
      fail("what the vocabulary holds is not said: it is the tokenizer's",
           given_.find("--tokenizer-type"), "say it: --vocabulary N");
    }
    model["vocabulary"] = whole(vocabulary.value_or(1.0));
  }

  /// Megatron-DeepSpeed prints one expert for models that have none.
  bool has_experts() {
    takes("--num-experts");
    const auto experts = given_.number("--num-experts");
    return given_.has("--num-experts") && experts != 1.0;
  }

  void read_experts(int layers, json& model) {
    json experts = {{"experts", whole(needed("--num-experts"))},
                    {"experts_per_token", whole(optional("--moe-router-topk").value_or(2.0))}};
    if (const auto groups = optional("--moe-router-num-groups")) {
      experts["groups"] = whole(*groups);
      experts["groups_per_token"] = whole(optional("--moe-router-group-topk").value_or(*groups));
    }
    experts["expert_hidden"] =
        whole(optional("--moe-ffn-hidden-size").value_or(model.at("ffn_hidden").get<double>()));
    if (const auto shared = optional("--moe-shared-expert-intermediate-size")) {
      experts["shared_expert_hidden"] = whole(*shared);
    }
    if (takes("--moe-layer-freq")) {
      const std::string text = given_.value("--moe-layer-freq");
      const std::vector<int> has = expert_layers(text, layers);
      const auto leading = std::ranges::find(has, 1) - has.begin();
      const bool is_dense_first = !has.empty() && std::all_of(has.begin() + leading, has.end(),
                                                              [](int one) { return one == 1; });
      const auto number = parse_number<int>(text);
      if (is_dense_first && leading > 0) {
        experts["leading_dense_layers"] = leading;
      } else if (number && *number > 1) {
        experts["interval"] = *number;
      } else if (!is_dense_first) {
        fail(fmt::format("--moe-layer-freq {} gives experts to layers that no model here can have "
                         "them in",
                         in_quotes(text)),
             given_.find("--moe-layer-freq"),
             "taken are a number, and layers without experts in front of all that have them, "
             "such as ([0]*3+[1]*58)");
      }
    }
    model["mixture_of_experts"] = std::move(experts);
  }

  void read_latent_attention(json& model) {
    model.erase("kv_heads");
    model.erase("head_size");
    model["latent_attention"] = {
        {"query_rank", whole(optional("--q-lora-rank").value_or(0.0))},
        {"key_value_rank", whole(optional("--kv-lora-rank").value_or(32.0))},
        {"head_size_without_rotary", whole(optional("--qk-head-dim").value_or(128.0))},
        {"rotary_head_size", whole(optional("--qk-pos-emb-head-dim").value_or(64.0))},
        {"value_head_size", whole(optional("--v-head-dim").value_or(128.0))}};
  }

  const StartedJob& job_;
  const GivenSettings& given_;
  std::set<std::string>& used_;
  Diagnostics& diagnostics_;
  bool has_failed_ = false;
};

}  // namespace

std::vector<int> expert_layers(const std::string& frequency, int layers) {
  std::vector<int> has;
  const auto add = [&](int one, int times) {
    const auto room = static_cast<int>(kMostLayers - has.size());
    has.insert(has.end(), static_cast<std::size_t>(std::clamp(times, 0, room)), one);
  };
  if (const auto every = parse_number<int>(frequency)) {
    if (*every < 1) return {};
    for (int i = 0; i < std::min(layers, kMostLayers); ++i) add(i % *every == 0 ? 1 : 0, 1);
    return has;
  }
  if (frequency.find('[') == std::string::npos) {  // as a log has the list
    std::istringstream stream(frequency);
    for (std::string word; stream >> word;) {
      if (word != "0" && word != "1") return {};
      add(word == "1" ? 1 : 0, 1);
    }
    return has;
  }
  static const std::regex kTerm(R"(\s*\+?\s*\(?\s*\[([01])\]\s*(?:\*\s*(\d{1,6}))?\s*\)?)");
  auto rest = frequency.cbegin();
  for (std::smatch term; rest != frequency.cend();) {
    const auto found = std::regex_search(rest, frequency.cend(), term, kTerm,
                                         std::regex_constants::match_continuous);
    if (!found) return {};
    const auto times = parse_number<int>(term[2].str());
    add(term[1].str() == "1" ? 1 : 0, times.value_or(1));
    rest = term[0].second;
  }
  return has;
}

std::optional<json> megatron_model(const StartedJob& job, const std::string& name,
                                   std::optional<double> vocabulary, std::set<std::string>& used,
                                   Diagnostics& diagnostics) {
  return ModelReader(job, used, diagnostics).read(name, vocabulary);
}

}  // namespace headway
