#include "sim/validate/row_fields.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

constexpr std::int64_t kMostOfAField = 1'000'000'000;

struct WholeNumber {
  const char* key;
  int least;
};
constexpr std::array kOfModel = {WholeNumber{"layers", 1},   WholeNumber{"hidden", 1},
                                 WholeNumber{"heads", 1},    WholeNumber{"kv_heads", 1},
                                 WholeNumber{"head_dim", 1}, WholeNumber{"ffn", 1},
                                 WholeNumber{"vocab", 1},    WholeNumber{"seq", 1},
                                 WholeNumber{"window", 1},   WholeNumber{"mtp_layers", 0}};
constexpr std::array kOfExperts = {WholeNumber{"experts", 1}, WholeNumber{"topk", 1},
                                   WholeNumber{"moe_ffn", 1}, WholeNumber{"dense_layers", 0},
                                   WholeNumber{"shared_ffn", 0}};
constexpr std::array kOfTrain = {
    WholeNumber{"tp", 1},           WholeNumber{"pp", 1},
    WholeNumber{"dp", 1},           WholeNumber{"vpp", 1},
    WholeNumber{"cp", 1},           WholeNumber{"ep", 1},
    WholeNumber{"etp", 1},          WholeNumber{"micro_batch", 1},
    WholeNumber{"global_batch", 1}, WholeNumber{"cpu_offload_layers", 0}};

void check(std::span<const WholeNumber> numbers, const nlohmann::json& object,
           const JsonCursor& part, Diagnostics& diagnostics) {
  for (const auto& [key, least] : numbers) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) continue;
    const auto value = found->get<double>();
    if (value >= least && value <= static_cast<double>(kMostOfAField) &&
        value == std::trunc(value)) {
      continue;
    }
    const auto own = part.is_object() ? part.member(key) : std::nullopt;
    diagnostics.add((own ? *own : part)
                        .problem(fmt::format("\"{}\" of a row is a whole number from {} to {}", key,
                                             least, grouped_digits(kMostOfAField)),
                                 found->dump()));
  }
}

}  // namespace

void check_whole_numbers(const nlohmann::json& model, const nlohmann::json& train,
                         const RowParts& parts, Diagnostics& diagnostics) {
  check(kOfModel, model, parts.model, diagnostics);
  if (const auto experts = parts.model.member("moe")) {
    check(kOfExperts, experts->value(), *experts, diagnostics);
  }
  check(kOfTrain, train, parts.train, diagnostics);
}

std::string word(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
bool is_true(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}
std::int64_t whole(const nlohmann::json& object, const char* key, std::int64_t fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<std::int64_t>() : fallback;
}
bool is_given(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

}  // namespace headway
