#include "sim/validate/sync/row_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/join_words.h"
#include "sim/base/pattern.h"
#include "sim/base/quantity_text.h"
#include "sim/costs/accelerators.h"
#include "sim/validate/validation_data.h"

namespace headway {
namespace {

bool is_separator(char c) { return c == '-' || c == '_' || c == ' '; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// What makes another thing of a name that it follows: "RTX 3090 Ti", "H100 NVL", "BERT-tiny".
constexpr std::array<std::string_view, 13> kVariants = {"ti",   "super", "nvl",    "pcie", "tiny",
                                                        "mini", "small", "medium", "base", "large",
                                                        "xl",   "huge",  "lite"};

/// Whether what stands from there on makes another name of what stands before.
bool goes_on(std::string_view text, std::size_t at) {
  if (at == text.size()) return false;
  if (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1])) return true;
  const bool is_plural =
      is_same_letter(text[at], 's') && (at + 1 == text.size() || !is_word(text[at + 1]));
  if (is_word(text[at])) return !is_plural;
  if (!is_separator(text[at])) return false;
  const std::string_view rest = text.substr(at + 1);
  if (text[at] != ' ' && !rest.empty() && is_digit(rest.front())) return true;
  return std::ranges::any_of(kVariants, [&](std::string_view variant) {
    return rest.size() >= variant.size() &&
           std::ranges::equal(rest.substr(0, variant.size()), variant, is_same_letter) &&
           (rest.size() == variant.size() || !is_word(rest[variant.size()]));
  });
}

/// Where a name that begins there ends; nothing if it is another.
std::optional<std::size_t> end_of_name(std::string_view text, std::size_t at,
                                       std::string_view name) {
  const bool begins = at == 0 || !is_word(text[at - 1]) ||
                      (is_same_letter(text[at - 1], 'x') && at > 1 && is_digit(text[at - 2]));
  if (!begins) return std::nullopt;
  for (const char letter : name) {
    if (is_separator(letter)) {
      while (at < text.size() && is_separator(text[at])) ++at;
    } else if (at < text.size() && is_same_letter(text[at], letter)) {
      ++at;
    } else {
      return std::nullopt;
    }
  }
  return goes_on(text, at) ? std::nullopt : std::optional(at);
}

/// A name in a text, and the entry of the table that has it.
struct FoundName {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string words;
  const nlohmann::json* entry = nullptr;
};

/// The longest names at every place, those that stand in longer ones left out, as they come.
std::vector<FoundName> names_in(std::string_view text, const nlohmann::json& table) {
  std::vector<FoundName> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    FoundName longest;
    for (const nlohmann::json& entry : table) {
      for (const nlohmann::json& words : entry.at("words")) {
        const auto end = end_of_name(text, at, words.get_ref<const std::string&>());
        if (end && *end > longest.end) longest = {at, *end, words, &entry};
      }
    }
    if (longest.entry == nullptr) continue;
    if (!found.empty() && longest.end <= found.back().end) continue;
    found.push_back(longest);
  }
  return found;
}

std::optional<BytesPerSecond> rate_in(const nlohmann::json& entry, const char* key) {
  if (!entry.contains(key)) return std::nullopt;
  return std::get<BytesPerSecond>(parse_quantity<BytesPerSecond>(entry.at(key).get<std::string>()));
}

/// "4 x NVIDIA H100", "8x V100", "32 V100".
std::optional<int> count_before(std::string_view text, std::size_t at) {
  std::string_view before = text.substr(0, at);
  const auto drop = [&before](std::string_view words) {
    while (before.ends_with(' ')) before.remove_suffix(1);
    if (before.ends_with(words)) before.remove_suffix(words.size());
  };
  for (const char* maker : {"NVIDIA", "AMD", "Tesla", "AWS", "GeForce", "x"}) drop(maker);
  drop("");
  const std::size_t digits = before.find_last_not_of("0123456789");
  const std::string number(digits == std::string_view::npos ? before : before.substr(digits + 1));
  constexpr std::size_t kMostDigits = 7;
  if (number.empty() || number.size() > kMostDigits) return std::nullopt;
  if (digits != std::string_view::npos && (is_word(before[digits]) || before[digits] == '-')) {
    return std::nullopt;
  }
  return std::stoi(number);
}

const Accelerator& accelerator_with(const std::string& profile) {
  const auto known = std::ranges::find(accelerators(), profile, &Accelerator::profile);
  if (known == accelerators().end()) {
    throw InputError(Diagnostic{.message = fmt::format("there is no profile {}", profile)});
  }
  return *known;
}

NamedAccelerator accelerator_of(std::string_view text, const FoundName& found) {
  const nlohmann::json& entry = *found.entry;
  NamedAccelerator named{.words = found.words, .profile = entry.at("profile")};
  named.count = count_before(text, found.begin);
  const Accelerator& known = accelerator_with(named.profile);
  named.name = known.name;
  named.scale_up = rate_in(entry, "scale_up").value_or(known.scale_up_bandwidth);
  named.all_to_all = rate_in(entry, "all_to_all").value_or(named.scale_up);
  named.on_pcie = entry.value("pcie", false);
  named.per_server = entry.value("per_server", 0);
  if (entry.contains("cluster")) {
    const nlohmann::json& cluster = entry.at("cluster");
    named.cluster = {cluster.at("topology"), cluster.at("per_node")};
  }
  named.network = rate_in(entry, "network");
  const nlohmann::json rented = entry.value("rented", nlohmann::json::object());
  named.rented_profile = rented.value("profile", named.profile);
  named.rented_name = accelerator_with(named.rented_profile).name;
  named.rented_per_server = rented.value("per_server", named.rented_per_server);
  named.rented_scale_up = rate_in(rented, "scale_up").value_or(named.scale_up);
  return named;
}

std::string names_of(const nlohmann::json& table) {
  std::vector<std::string> names;
  for (const nlohmann::json& entry : table) names.push_back(entry.at("words").front());
  std::ranges::sort(names);
  return join_words(names, ", ");
}

const nlohmann::json& accelerator_names() {
  static const nlohmann::json names = validation_data("row_words.json", "accelerators");
  return names;
}

const nlohmann::json& model_names() {
  static const nlohmann::json names = validation_data("row_words.json", "models");
  return names;
}

const nlohmann::json& machine_names() {
  static const nlohmann::json names = validation_data("row_words.json", "machines");
  return names;
}

/// "64k" is 64,000, "65,536" one number. None is larger than fits where numbers are whole.
double number_said(std::string text) {
  const bool thousands = !text.empty() && is_same_letter(text.back(), 'k');
  std::erase_if(text, [](char c) { return c == ',' || c == ' ' || is_same_letter(c, 'k'); });
  constexpr double kMost = 1e9;
  return std::min(kMost, (thousands ? 1000.0 : 1.0) * std::stod(text));
}

constexpr const char* kNumber = R"((\d{1,3}(?:,\d{3}){1,4}|\d{1,15}(?:\.\d{1,15})?))";

Pattern pattern_of(const std::string& text) {
  return Pattern(text, Pattern::Letters::small_or_capital);
}

}  // namespace

ReadWords<NamedAccelerator> named_accelerator(std::string_view text) {
  const std::vector<FoundName> machines = names_in(text, machine_names());
  std::vector<FoundName> kinds = names_in(text, accelerator_names());
  // The A100 of "DGX A100" says nothing beyond the machine.
  std::erase_if(kinds, [&](const FoundName& kind) {
    return std::ranges::any_of(machines, [&](const FoundName& machine) {
      return machine.begin <= kind.begin && kind.end <= machine.end;
    });
  });
  if (kinds.empty() && machines.empty()) {
    return fmt::format("it names no accelerator with a profile that ships ({})",
                       names_of(accelerator_names()));
  }
  NamedAccelerator named = accelerator_of(text, kinds.empty() ? machines.front() : kinds.front());
  for (const FoundName& other : kinds.empty() ? machines : kinds) {
    if (other.entry->at("profile") != named.profile) {
      return fmt::format("it names several accelerators, {} and {}", named.words, other.words);
    }
  }
  if (!machines.empty() && !kinds.empty()) {
    const NamedAccelerator machine = accelerator_of(text, machines.front());
    named.words = machine.words;
    named.per_server = machine.per_server;
    named.network = machine.network;
    named.count = machine.count;
    if (machine.profile == named.profile) {
      named.scale_up = machine.scale_up;
      named.all_to_all = machine.all_to_all;
    }
  }
  return named;
}

ReadWords<NamedModel> named_model(std::string_view text) {
  const std::vector<FoundName> found = names_in(text, model_names());
  if (found.empty()) {
    return fmt::format("it names no model of the table ({})", names_of(model_names()));
  }
  const FoundName* exact = &found.front();
  for (const FoundName& other : found) {
    if (other.words.starts_with(exact->words)) exact = &other;
  }
  return NamedModel{.words = exact->words, .model = exact->entry->at("model")};
}

std::vector<NamedModel> named_models(std::string_view text) {
  std::vector<NamedModel> models;
  for (const FoundName& found : names_in(text, model_names())) {
    models.push_back({.words = found.words, .model = found.entry->at("model")});
  }
  return models;
}

std::optional<std::string> said_precision(std::string_view text) {
  static const std::array kSaid = {
      std::pair(pattern_of(R"(\btf-?32\b)"), "tf32"),
      std::pair(pattern_of(R"(\bbf-?16\b|bfloat)"), "bf16"),
      std::pair(
          pattern_of(R"(\bfp-?16\b|half precision|mixed[- ]precision|suggests mixed|\bamp\b)"),
          "fp16"),
      std::pair(pattern_of(R"(\bfp-?32\b|float32|single precision|full precision)"), "fp32")};
  for (const auto& [pattern, precision] : kSaid) {
    if (pattern.first_in(text)) return precision;
  }
  return std::nullopt;
}

std::optional<BytesPerSecond> network_rate(std::string_view text) {
  static const Pattern bits = pattern_of(
      std::string(kNumber) + R"(\s*-?([KMGT])(?:b(?:it)?(?:\/s|ps|E|IB)?|igabit)(?![a-z]))");
  static const Pattern bytes = pattern_of(std::string(kNumber) + R"(\s*([MGT])B(?:\/s|ps))");
  static const Pattern elsewhere =
      pattern_of("NVLink|NVSwitch|PCIe|memory|HBM|SSD|disk|storage|copy|shm");
  const auto rate_of = [](const Pattern::Match& match, double unit) {
    const char prefix = static_cast<char>(std::toupper(match[2].front()));
    const double scale = prefix == 'K' ? 1e3 : prefix == 'M' ? 1e6 : prefix == 'G' ? 1e9 : 1e12;
    return BytesPerSecond(number_said(std::string(match[1])) * scale * unit);
  };
  // "32 GB" is memory: letters count here.
  const auto counts_bits = [](const Pattern::Match& match) {
    const auto before = static_cast<std::size_t>(match[2].data() - match[0].data());
    const std::string_view unit = match[0].substr(before);
    return unit.size() > 1 && unit[1] != 'B';
  };
  for (const Pattern::Match& match : bits.all_in(text)) {
    if (counts_bits(match)) return rate_of(match, 1.0 / 8.0);
  }
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(",;()", begin), text.size());
    const std::string_view clause = text.substr(begin, end - begin);
    const auto match = bytes.first_in(clause);
    if (match && !elsewhere.first_in(clause)) return rate_of(*match, 1.0);
    begin = end + 1;
  }
  return std::nullopt;
}

SaidBatch said_batch(std::string_view text) {
  constexpr const char* kEach =
      R"(\s*(?:a|per|each|\/)\s*(?:GPU|accelerator|worker|device|card|replica|rank)s?\b)";
  constexpr const char* kIs = R"((?:[- ]?sizes?)?\s*(?:of|is|=|:)?\s*)";
  static const std::string number = std::string(kNumber) + R"((\s?k\b)?)";
  static const std::array of_each = {
      pattern_of(number + R"(\s*(?:samples|images|sequences|examples|sentences|words)?)" + kEach),
      pattern_of(R"((?:per|each)[- ](?:GPU|worker|device|accelerator)\s*(?:mini-?)?batch)" +
                 std::string(kIs) + number),
      pattern_of(R"(local\s*(?:mini-?)?batch)" + std::string(kIs) + number)};
  static const Pattern of_all =
      pattern_of(R"((?:global|total|effective)\s*(?:mini-?)?batch)" + std::string(kIs) + number);
  static const Pattern plain =  // and no micro-batch
      pattern_of(R"((?:^|[^-o])(?:mini-?)?batch)" + std::string(kIs) + number);
  const auto said = [](const Pattern::Match& match) {
    return number_said(std::string(match[1]) + std::string(match[2]));
  };
  SaidBatch batch;
  if (const auto match = of_all.first_in(text)) batch.of_all = said(*match);
  for (const Pattern& pattern : of_each) {
    const auto match = pattern.first_in(text);
    if (match && !batch.of_each) batch.of_each = said(*match);
  }
  if (batch.of_all || batch.of_each) return batch;
  if (const auto match = plain.first_in(text)) batch.plain = said(*match);
  return batch;
}

std::optional<double> batch_of_each(std::string_view text) {
  const SaidBatch batch = said_batch(text);
  return batch.of_each ? batch.of_each : batch.plain;
}

}  // namespace headway
