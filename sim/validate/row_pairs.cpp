#include "sim/validate/row_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/quantile.h"
#include "sim/validate/row_fields.h"

namespace headway {
namespace {

constexpr double kTelling = 0.02;  ///< below this repeated steps differ as much

/// What a row says, a value by name.
using Inputs = std::map<std::string, nlohmann::json>;

Inputs inputs_of(const PublishedRow& row) {
  Inputs inputs;
  for (const auto& [key, value] : row.train->items()) {
    if (key != "dp") inputs[key] = value;
  }
  nlohmann::json model = *row.model;
  inputs["seq"] = model.at("seq");
  model.erase("seq");
  inputs["model"] = std::move(model);
  inputs["gpus"] = row.head.accelerators;
  inputs["gpu"] = row.head.accelerator;
  inputs["software"] = row.head.framework + " " + row.release;
  inputs["nvlink_domain"] = row.nvlink_domain;
  inputs["nic"] = row.nic_gigabytes_per_second;
  return inputs;
}

std::set<std::string> differences(const Inputs& a, const Inputs& b) {
  std::set<std::string> names;
  for (const Inputs* inputs : {&a, &b}) {
    for (const auto& [name, value] : *inputs) {
      const auto found_a = a.find(name);
      const auto found_b = b.find(name);
      const bool is_alike =
          found_a != a.end() && found_b != b.end() && found_a->second == found_b->second;
      if (!is_alike) names.insert(name);
    }
  }
  return names;
}

double number_of(const Inputs& inputs, const std::string& name) {
  const auto found = inputs.find(name);
  return found != inputs.end() && found->second.is_number() ? found->second.get<double>() : 0.0;
}

bool grow_alike(const Inputs& a, const Inputs& b, const char* one, const char* other) {
  return number_of(a, one) * number_of(b, other) == number_of(b, one) * number_of(a, other);
}

bool is_bound_to(const Inputs& a, const Inputs& b, const char* one, const char* other) {
  return number_of(a, one) * number_of(a, other) == number_of(b, one) * number_of(b, other);
}

/// What the one difference between two rows is called, and the input that orders them.
struct Knob {
  std::string name;
  std::string input;
};

std::optional<Knob> knob_between(const Inputs& a, const Inputs& b) {
  static const std::map<std::string, std::string> kNames = {
      {"micro_batch", "micro-batch"},
      {"tp", "tensor against data parallel"},
      {"pp", "pipeline against data parallel"},
      {"cp", "context against data parallel"},
      {"ep", "expert parallel"},
      {"vpp", "interleaving"},
      {"gpus", "strong scaling"},
      {"global_batch", "batch"},
      {"seq", "sequence length"},
      {"software", "release"},
      {"gpu", "accelerator"}};
  std::set<std::string> differ = differences(a, b);
  if (differ.contains("model")) return std::nullopt;
  if (differ.contains("gpu")) {
    differ.erase("nic");
    differ.erase("nvlink_domain");
  }
  if (differ == std::set<std::string>{"global_batch", "gpus"} &&
      grow_alike(a, b, "global_batch", "gpus")) {
    return Knob{"weak scaling", "gpus"};
  }
  if (differ == std::set<std::string>{"pp", "tp"} && is_bound_to(a, b, "tp", "pp")) {
    return Knob{"tensor against pipeline parallel", "tp"};
  }
  if (differ == std::set<std::string>{"recompute", "recompute_modules"}) {
    return Knob{"recompute", "recompute"};
  }
  if (differ.size() != 1) return std::nullopt;
  const std::string& only = *differ.begin();
  const auto named = kNames.find(only);
  std::string name = named != kNames.end() ? named->second : only;
  std::ranges::replace(name, '_', ' ');
  return Knob{name, only};
}

/// Tokens that an accelerator trains in a second.
double rate(const Inputs& inputs, double seconds) {
  return number_of(inputs, "global_batch") * number_of(inputs, "seq") / number_of(inputs, "gpus") /
         seconds;
}

void sum_up(KnobPairs& knob) {
  double squares = 0.0;
  double products = 0.0;
  std::vector<double> errors;
  for (const RowPair& pair : knob.pairs) {
    const double published = std::log(pair.published);
    const double predicted = std::log(pair.predicted);
    squares += published * published;
    products += published * predicted;
    errors.push_back(std::abs(pair.predicted - pair.published));
    if (std::abs(pair.published - 1.0) <= kTelling) continue;
    ++knob.telling;
    if (published * predicted > 0.0) ++knob.right_sign;
  }
  knob.slope = squares > 0.0 ? products / squares : 0.0;
  knob.median_error = median(std::move(errors));
}

}  // namespace

std::vector<KnobPairs> pairs_by_knob(const std::vector<PublishedRow>& published,
                                     const std::vector<ValidationRow>& predicted) {
  HEADWAY_CHECK(published.size() == predicted.size(), "rows and predictions that differ");
  std::vector<Inputs> inputs;
  for (const PublishedRow& row : published) inputs.push_back(inputs_of(row));
  std::map<std::string, KnobPairs> knobs;
  KnobPairs all{.knob = "all", .pairs = {}};
  for (std::size_t i = 0; i < published.size(); ++i) {
    for (std::size_t j = i + 1; j < published.size(); ++j) {
      if (published[i].head.source != published[j].head.source) continue;
      if (!predicted[i].predicted_s || !predicted[j].predicted_s) continue;
      const auto knob = knob_between(inputs[i], inputs[j]);
      if (!knob) continue;
      const auto value = [&](std::size_t row) {
        const auto found = inputs[row].find(knob->input);
        return found != inputs[row].end() ? found->second : nlohmann::json();
      };
      const std::size_t less = value(j) < value(i) ? j : i;
      const std::size_t more = i + j - less;
      const auto effect = [&](double first, double second) {
        return rate(inputs[more], second) / rate(inputs[less], first);
      };
      const RowPair pair{
          .first = published[less].head.id,
          .second = published[more].head.id,
          .published = effect(predicted[less].published_s, predicted[more].published_s),
          .predicted = effect(*predicted[less].predicted_s, *predicted[more].predicted_s)};
      knobs[knob->name].pairs.push_back(pair);
      all.pairs.push_back(pair);
    }
  }
  std::vector<KnobPairs> summary;
  if (all.pairs.empty()) return summary;
  summary.push_back(std::move(all));
  for (auto& [name, knob] : knobs) {
    knob.knob = name;
    summary.push_back(std::move(knob));
  }
  for (KnobPairs& knob : summary) sum_up(knob);
  return summary;
}

}  // namespace headway
