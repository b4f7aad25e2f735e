#include "tests/fuzz/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace headway {
namespace {

using nlohmann::json;

double number_at(const json& result, const char* place, double fallback) {
  const json::json_pointer pointer(place);
  if (!result.contains(pointer) || !result.at(pointer).is_number()) return fallback;
  return result.at(pointer).get<double>();
}

bool has_warning(const json& result, std::string_view words) {
  const json warnings = result.value("warnings", json::array());
  return std::ranges::any_of(warnings, [&](const json& warning) {
    return warning.get<std::string>().find(words) != std::string::npos;
  });
}

/// The first nan or inf that stands by itself.
std::optional<std::string_view> not_a_number(std::string_view text) {
  constexpr std::string_view kBefore = " \t\r\n,|>-";
  constexpr std::string_view kAfter = " \t\r\n,|<%";
  const auto letter = [&](std::size_t at) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(text[at])));
  };
  for (std::size_t at = 0; at + 3 <= text.size(); ++at) {
    const char first = letter(at);
    const bool is_none = (first == 'n' && letter(at + 1) == 'a' && letter(at + 2) == 'n') ||
                         (first == 'i' && letter(at + 1) == 'n' && letter(at + 2) == 'f');
    if (!is_none) continue;
    const bool begins = at == 0 || kBefore.find(text[at - 1]) != std::string_view::npos;
    const bool ends = at + 3 == text.size() || kAfter.find(text[at + 3]) != std::string_view::npos;
    if (begins && ends) return text.substr(at, 3);
  }
  return std::nullopt;
}

/// Whether a text in it is, or holds, such a word.
bool is_said_by(const json& value) {
  if (value.is_string()) return not_a_number(value.get_ref<const std::string&>()).has_value();
  return value.is_structured() && std::ranges::any_of(value, is_said_by);
}

/// Every number below `value` is at least 0.
void check_signs(const json& value, const std::string& name, std::vector<std::string>& found) {
  if (value.is_number() && !(value.get<double>() >= -1e-12)) {
    found.push_back(fmt::format("{} is {}", name, value.dump()));
  }
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) check_signs(member, name + "/" + key, found);
}

}  // namespace

std::vector<std::string> broken_promises(const LimitedRun& run) {
  std::vector<std::string> found;
  if (run.signal != 0 || run.exit_code < 0 || run.exit_code > 3) {
    found.push_back(run.ending());
  }
  const bool is_refused = run.exit_code == 2;
  if (is_refused && run.errors.find("error: ") == std::string::npos) {
    found.emplace_back("refused without a reason");
  }
  if (is_refused && run.errors.find("; nothing was ") == std::string::npos) {
    found.emplace_back("refused without saying what was not done");
  }
  constexpr std::size_t kMostWords = std::size_t{1} << 20;
  if (run.errors.size() > kMostWords) found.emplace_back("more than a megabyte of messages");
  return found;
}

std::vector<std::string> nonsense_in(const json& result) {
  std::vector<std::string> found;
  const auto expect = [&](bool holds, std::string what) {
    if (!holds) found.push_back(std::move(what));
  };
  for (const char* part : {"iteration_time_s", "iteration_time_interval_s", "breakdown_s",
                           "memory_bytes", "tokens_per_s", "samples_per_s", "mfu", "hfu",
                           "replica_time_s", "cost_usd", "energy_J", "goodput", "ettr"}) {
    if (result.contains(part)) check_signs(result.at(part), part, found);
  }
  const double time = number_at(result, "/iteration_time_s", 0.0);
  if (time <= 0.0) {
    expect(!result.at("memory_bytes").value("fits", false), "fits, and was not simulated");
    return found;
  }
  const double low = number_at(result, "/iteration_time_interval_s/0", time);
  const double high = number_at(result, "/iteration_time_interval_s/1", time);
  expect(low <= time * (1 + 1e-9) && time <= high * (1 + 1e-9),
         fmt::format("{} is not in its interval {} .. {}", time, low, high));
  double parts = 0.0;
  for (const auto& [cause, part] : result.at("breakdown_s").items()) parts += part.get<double>();
  expect(std::abs(parts - time) <= 1e-6 * time,
         fmt::format("the breakdown adds up to {} of {}", parts, time));
  const double batch = number_at(result, "/scenario/strategy/global_batch", 0.0);
  const double samples = number_at(result, "/samples_per_s", 0.0) * time;
  expect(std::abs(samples - batch) <= 1e-6 * batch,
         fmt::format("{} samples in an iteration of {}", samples, batch));
  for (const char* use : {"/mfu", "/hfu"}) {
    const double share = number_at(result, use, 0.0);
    expect(share <= 1.0 + 1e-9, fmt::format("{} is {}", use, share));
  }
  for (const json& link : result.value("links", json::array())) {
    const double share = number_at(link, "/utilisation", 0.0);
    expect(share <= 1.0 + 1e-6, fmt::format("a link carries {} of what it can", share));
  }
  const double efficiency = number_at(result, "/scaling_efficiency", 1.0);
  expect(efficiency <= 1.05 || has_warning(result, "scaling"),
         fmt::format("scaling of {} without a warning", efficiency));
  const double largest = number_at(result, "/memory_bytes/largest", 0.0);
  const double capacity = number_at(result, "/memory_bytes/capacity", largest);
  expect(result.at("memory_bytes").value("fits", true) == (largest <= capacity),
         "fits or not, against what memory says");
  return found;
}

std::vector<std::string> nonsense_in_text(const std::string& text, const json& result) {
  const std::optional<std::string_view> word = not_a_number(text);
  if (!word || is_said_by(result.value("scenario", json()))) return {};
  return {fmt::format("a page says \"{}\"", *word)};
}

}  // namespace headway
