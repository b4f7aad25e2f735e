#include "sim/plan/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
constexpr double kMostBatchChange = 0.5;
constexpr std::array<std::pair<std::string_view, LargestGoal::Of>, 4> kLargest{{
    {"model", LargestGoal::Of::model},
    {"width", LargestGoal::Of::width},
    {"layers", LargestGoal::Of::layers},
    {"context", LargestGoal::Of::context},
}};

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

/// "2T", "500B", "1000".
std::optional<double> tokens_of(const std::string& text) {
  constexpr std::string_view kSuffixes = "KMBT";
  const auto number = number_of(text);
  if (!number) return std::nullopt;
  double tokens = number->value;
  if (!number->suffix.empty()) {
    const std::size_t power = kSuffixes.find(number->suffix.front());
    if (number->suffix.size() > 1 || power == std::string_view::npos) return std::nullopt;
    tokens *= std::pow(1000.0, static_cast<double>(power + 1));
  }
  return tokens <= kMostTokens ? std::optional(tokens) : std::nullopt;
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
  explicit GoalText(const std::string& text) : text_(text) {}

  Goal goal() {
    std::string spaced = text_;
    std::ranges::replace(spaced, ',', ' ');
    std::istringstream words(spaced);
    for (std::string word; words >> word;) take(word);
    if (!seen_.contains("largest")) {
      if (!seen_.contains("tokens")) report("a goal needs tokens", "add tokens=2T");
      if (!seen_.contains("deadline")) report("a goal needs a deadline", "add deadline=30d");
    } else if (seen_.size() > 1) {
      report("largest stands alone", "what fits does not depend on tokens or a deadline");
    }
    problems_.throw_if_errors();
    if (seen_.contains("largest")) return largest_;
    return training_;
  }

 private:
  void report(std::string message, std::string help) {
    Diagnostic problem;
    problem.message = std::move(message);
    problem.location.file = "--goal " + printable(text_);
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

  /// An example where the value is none; empty if all went well.
  std::string set(const std::string& name, const std::string& value) {
    if (name == "tokens") return set_number(tokens_of(value), training_.tokens, "tokens=2T");
    if (name == "deadline") {
      const auto time = parse_quantity<Seconds>(value);
      const auto* const seconds = std::get_if<Seconds>(&time);
      if (seconds == nullptr || *seconds <= Seconds(0.0)) return "deadline=30d";
      training_.deadline = *seconds;
      return "";
    }
    if (name == "probability") {
      return set_number(share_of(value), training_.probability,
                        "probability=95%: above 0 % and below 100 %");
    }
    if (name == "batch_within") {
      auto share = share_of(value);
      if (share && *share > kMostBatchChange) share.reset();
      return set_number(share, training_.batch_within, "batch_within=5%: half of it at most");
    }
    if (name == "minimize") {
      if (value != "gpus" && value != "usd") return "minimize=gpus or minimize=usd";
      training_.minimize =
          value == "usd" ? TrainingGoal::Minimize::usd : TrainingGoal::Minimize::gpus;
      return "";
    }
    if (name == "largest") {
      for (const auto& [named, of] : kLargest) {
        if (named != value) continue;
        largest_.of = of;
        return "";
      }
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
    const auto meant =
        closest(name, {"tokens", "deadline", "probability", "batch_within", "minimize", "largest"});
    if (meant) {  // that it is missing need not be told too
      seen_.erase(name);
      seen_.insert(*meant);
    }
    report(fmt::format("a goal has no {}", in_quotes(name)),
           (meant ? fmt::format("did you mean \"{}\"? ", *meant) : "") +
               "goals are like \"tokens=2T deadline=30d probability=95%\" (and batch_within, "
               "minimize) or \"largest=context\"");
  }

  const std::string& text_;
  TrainingGoal training_;
  LargestGoal largest_;
  std::set<std::string> seen_;
  Diagnostics problems_;
};

}  // namespace

Goal parse_goal(const std::string& text) { return GoalText(text).goal(); }

}  // namespace headway
