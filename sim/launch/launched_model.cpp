#include "sim/launch/launched_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/models/transformer/transformer.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::string_view kAttention = "attention";

/// Families have fields of it ("attention_heads"), lists of layers its name or its fields.
bool names_attention(const json& part) {
  if (part.is_string()) return part.get_ref<const std::string&>() == kAttention;
  if (!part.is_structured()) return false;
  const bool is_field =
      part.is_object() && std::ranges::any_of(part.items(), [](const auto& member) {
        return member.key().find(kAttention) != std::string::npos && !member.value().is_null();
      });
  return is_field || std::ranges::any_of(part, names_attention);
}

}  // namespace

bool is_decoder(const JsonValue& scenario) {
  return scenario->at("model").contains("kv_heads");  // as decoders are resolved
}

bool has_attention(const JsonValue& scenario) {
  const json& model = scenario->at("model");
  const auto pattern = model.find("layer_pattern");
  if (pattern == model.end()) return names_attention(model);
  return pattern->get_ref<const std::string&>().find(half_layer::kAttention) != std::string::npos;
}

}  // namespace headway
