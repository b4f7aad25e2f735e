#include "sim/plan/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr double kMostTokens = 1e18;
constexpr double kMostMoney = 1e15;
constexpr double kMostBatchChange = 0.5;

/// A positive number and what stands behind it; nothing for anything else.
struct Number {
  double value = 0.0;
  std::string suffix;
};
std::optional<Number> number_of(const std::string& text) {
  Number number;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number.value);
  if (error != std::errc() || !std::isfinite(number.value) || number.value <= 0.0) return {};
  number.suffix.assign(stopped, end);
  return number;
}

/// "2T", "500B", "150k", "1000".
std::optional<double> count_of(const std::string& text, double most) {
  constexpr std::string_view kSuffixes = "kMBT";
  const auto number = number_of(text);
  if (!number) return std::nullopt;
  double count = number->value;
  if (!number->suffix.empty()) {
    const char suffix = number->suffix == "K" ? 'k' : number->suffix.front();
    const std::size_t power = kSuffixes.find(suffix);
    if (number->suffix.size() > 1 || power == std::string_view::npos) return std::nullopt;
    count *= std::pow(1000.0, static_cast<double>(power + 1));
  }
  return count <= most ? std::optional(count) : std::nullopt;
}

/// "95%" or "0.95".
std::optional<double> share_of(const std::string& text) {
  const auto number = number_of(text);
  if (!number || (!number->suffix.empty() && number->suffix != "%")) return std::nullopt;
  const double share = number->suffix.empty() ? number->value : number->value / 100.0;
  return share < 1.0 ? std::optional(share) : std::nullopt;
}

class GoalText {
 public:
  GoalText(const std::string& text, const std::optional<Diagnostic>& where)
      : text_(text),
        where_(where.value_or(Diagnostic{.location = {.file = "--goal " + printable(text)}})) {}

  Goal goal() {
    std::string spaced = text_;
    std::ranges::replace(spaced, ',', ' ');
    for (const std::string& word : words_of(spaced)) take(word);
    if (!seen_.contains("largest")) {
      if (!seen_.contains("tokens")) report("a goal needs tokens", "add tokens=2T");
      check_limits();
    } else if (seen_.size() > 1) {
      report("largest stands alone", "what fits does not depend on tokens or a deadline");
    }
    problems_.throw_if_errors();
    if (seen_.contains("largest")) return largest_;
    return training_;
  }

 private:
  /// A unit, which begins with no digit, may stand apart from its number: "deadline=60 days" is one
  /// word.
  static std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream parts(text);
    for (std::string part; parts >> part;) {
      const bool is_unit = part.find('=') == std::string::npos && !number_of(part);
      if (is_unit && !words.empty() && ends_in_number(words.back())) {
        words.back() += part;
      } else {
        words.push_back(std::move(part));
      }
    }
    return words;
  }

  static bool ends_in_number(const std::string& word) {
    const auto number = number_of(without_dollar(word.substr(word.find('=') + 1)));
    return number && number->suffix.empty();
  }

  static std::string without_dollar(const std::string& text) {
    return text.starts_with('$') ? text.substr(1) : text;
  }

  /// Something has to bound the cluster: from below the deadline, or from above what it may take.
  void check_limits() {
    const bool is_soonest = training_.minimize == TrainingGoal::Minimize::days;
    const bool has_ceiling = seen_.contains("budget") || seen_.contains("power");
    if (is_soonest && !has_ceiling) {
      report("minimize=days needs a ceiling", "add budget=50M or power=2MW");
    } else if (!is_soonest && !seen_.contains("deadline")) {
      report("a goal needs a deadline", "add deadline=30d");
    }
  }

  void report(std::string message, std::string help) {
    Diagnostic problem = where_;
    problem.message = std::move(message);
    problem.help = std::move(help);
    problems_.add(std::move(problem));
  }

  void take(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (!seen_.insert(name).second) report(fmt::format("{} stands twice", in_quotes(name)), "");
    const std::string example = set(name, value);
    if (!example.empty()) {
      report(fmt::format("{} cannot be understood", in_quotes(word)), "write " + example);
    }
  }

  /// "60days" as quantities have it: "60d".
  static std::string with_short_days(const std::string& text) {
    for (const std::string_view word : {"days", "day"}) {
      if (text.ends_with(word)) return text.substr(0, text.size() - word.size() + 1);
    }
    return text;
  }

  /// An example where the value is none; empty if all went well.
  std::string set(const std::string& name, const std::string& value) {
    if (name == "tokens") {
      return set_number(count_of(value, kMostTokens), training_.tokens, "tokens=2T");
    }
    if (name == "deadline") {
      const auto time = parse_quantity<Seconds>(with_short_days(value));
      const auto* const seconds = std::get_if<Seconds>(&time);
      if (seconds == nullptr || *seconds <= Seconds(0.0)) {
        return "deadline=30d: above 0 and up to 30,000 years";
      }
      training_.deadline = *seconds;
      return "";
    }
    if (name == "probability") {
      return set_number(share_of(value), training_.probability,
                        "probability=95%: above 0 % and below 100 %");
    }
    if (name == "batch_within") {
      const auto share = share_of(value);
      if (!share || *share > kMostBatchChange) return "batch_within=5%: half of it at most";
      training_.batch_within = *share;
      return "";
    }
    if (name == "budget") {
      training_.budget = count_of(without_dollar(value), kMostMoney);
      return training_.budget ? "" : "budget=50M: US$, more than 0";
    }
    if (name == "power") {
      training_.power = parse_power(value);
      if (training_.power && *training_.power <= Watts(0.0)) training_.power.reset();
      return training_.power ? "" : "power=2MW";
    }
    if (name == "minimize") {
      const auto named = value_named<TrainingGoal::Minimize>(value);
      training_.minimize = named.value_or(training_.minimize);
      if (named) return "";
      return "minimize=gpus, minimize=cost, minimize=days or minimize=energy";
    }
    if (name == "largest") {
      const auto named = value_named<LargestGoal::Of>(value);
      largest_.of = named.value_or(largest_.of);
      if (named) return "";
      return "largest=model, largest=width, largest=layers or largest=context";
    }
    refuse(name);
    return "";
  }

  static std::string set_number(std::optional<double> number, double& into, std::string example) {
    if (!number) return example;
    into = *number;
    return "";
  }

  void refuse(const std::string& name) {
    const auto meant = closest(name, {"tokens", "deadline", "probability", "batch_within", "budget",
                                      "power", "minimize", "largest"});
    if (meant) {  // that it is missing need not be told too
      seen_.erase(name);
      seen_.insert(*meant);
    }
    report(fmt::format("a goal has no {}", in_quotes(name)),
           (meant ? fmt::format("did you mean \"{}\"? ", *meant) : "") +
               "goals are like \"tokens=2T deadline=30d probability=95%\" (and budget, power, "
               "batch_within, minimize) or \"largest=context\"");
  }

  const std::string& text_;
  Diagnostic where_;
  TrainingGoal training_;
  LargestGoal largest_;
  std::set<std::string> seen_;
  Diagnostics problems_;
};

}  // namespace

Goal parse_goal(const std::string& text, const std::optional<Diagnostic>& where) {
  return GoalText(text, where).goal();
}

}  // namespace headway
