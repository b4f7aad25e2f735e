// Lists of the mixers of layers, as several families write them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/models/huggingface/huggingface_families.h"

namespace headway {
namespace {

/// What lists of layers call them, by older names too.
constexpr std::array<Word<char>, 7> kLayerWords = {{{"linear_attention", half_layer::kStateSpace},
                                                    {"mamba", half_layer::kStateSpace},
                                                    {"conv", half_layer::kConvolution},
                                                    {"full_attention", half_layer::kAttention},
                                                    {"attention", half_layer::kAttention},
                                                    {"mlp", half_layer::kMlp},
                                                    {"moe", half_layer::kExperts}}};

}  // namespace

std::optional<std::string> letters_of(ObjectReader& reader, std::string_view key) {
  const std::optional<JsonCursor> types = given(reader.cursor(), key);
  if (!types || !types->is_array()) return std::nullopt;
  std::string letters;
  for (const nlohmann::json& type : types->value()) {
    const auto* const word = std::ranges::find_if(
        kLayerWords, [&](const Word<char>& known) { return type == known.first; });
    // What is no layer is reported with the pattern.
    letters += word == kLayerWords.end() ? '?' : word->second;
  }
  return letters;
}

std::string with_second_halves(const std::string& mixers, char half, std::int64_t leading) {
  std::string pattern;
  for (const char mixer : mixers) {
    pattern += {mixer, leading > 0 ? half_layer::kMlp : half};
    --leading;
  }
  return pattern;
}

std::string read_mixers(ObjectReader& reader, std::int64_t layers, char mixer,
                        std::string_view name) {
  constexpr std::string_view kMixers = "layer_types";
  const auto count = static_cast<std::size_t>(layers);
  if (!given(reader.cursor(), kMixers)) return std::string(count, mixer);
  std::string mixers = letters_of(reader, kMixers).value_or("");
  const bool are_known =
      mixers.find_first_not_of({mixer, half_layer::kAttention}) == std::string::npos;
  if (mixers.size() != count || !are_known) {
    reader.report(kMixers, "layer_types names the mixer of every layer",
                  are_known ? fmt::format("{} for {} layers", mixers.size(), layers)
                            : "one of them is no mixer",
                  fmt::format(R"(write "{}" or "{}" for each)", name,
                              name == "mamba" ? "attention" : "full_attention"));
  }
  return mixers;
}

std::string read_listed_attention(ObjectReader& reader, std::int64_t layers, std::string_view key,
                                  char mixer) {
  std::string mixers(static_cast<std::size_t>(layers), mixer);
  const std::optional<JsonCursor> listed = given(reader.cursor(), key);
  if (!listed || !listed->is_array()) return mixers;
  for (const nlohmann::json& index : listed->value()) {
    const bool is_layer = index.is_number_integer() && index.get<std::int64_t>() >= 0 &&
                          index.get<std::int64_t>() < layers;
    if (is_layer) {
      mixers[index.get<std::size_t>()] = half_layer::kAttention;
      continue;
    }
    reader.report(key, "attention is in layers that are there",
                  fmt::format("{} is none of {}", index.dump(), layers),
                  fmt::format("layers are counted from 0 to {}", layers - 1));
    break;
  }
  return mixers;
}

}  // namespace headway
