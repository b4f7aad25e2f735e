#include "reports/answers/largest_plan_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/answers/plan_report.h"
#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

using nlohmann::json;

/// How goals, tables and sentences call what is made larger.
struct Words {
  std::string_view goal;
  std::string_view column;
  std::string_view superlative;
};
Words words_of(LargestGoal::Of of) {
  switch (of) {
    case LargestGoal::Of::model:
      return {"model", "model", "largest model"};
    case LargestGoal::Of::width:
      return {"width", "hidden", "largest hidden size"};
    case LargestGoal::Of::layers:
      return {"layers", "layers", "largest number of layers"};
    case LargestGoal::Of::context:
      break;
  }
  return {"context", "tokens", "longest context"};
}

std::string value_text(const TriedSize& size) {
  return size.name.empty() ? grouped_digits(size.value) : size.name;
}

json size_json(const TriedSize& size) {
  json document = {{"value", size.value}, {"parameters", size.parameters}};
  if (!size.name.empty()) document["model"] = size.name;
  document["reason"] = size.reason.empty() ? json(nullptr) : json(size.reason);
  return document;
}

}  // namespace

std::string largest_plan_text(const LargestPlan& plan) {
  constexpr auto kRight = TextTable::Align::right;
  const Words words = words_of(plan.goal.of);
  TextTable table({{std::string(words.column), kRight}, {"parameters", kRight}, {""}});
  for (const TriedSize& size : plan.tried) {
    table.add_row({value_text(size), parameters_text(size.parameters),
                   size.reason.empty() ? "fits" : size.reason});
  }
  std::string text = table.text(2) + "\n";
  if (!plan.plan) return text + "None of them fits.\n";
  const json& best = plan.plan->leaders.front().result;
  return text +
         fmt::format("The {} that fits is {}: {} parameters, {} tokens/s.\n\n", words.superlative,
                     value_text(plan.largest), parameters_text(plan.largest.parameters),
                     prefixed_count(best.at("tokens_per_s").get<double>())) +
         strategy_plan_text(*plan.plan);
}

json largest_plan_json(const LargestPlan& plan) {
  json tried = json::array();
  for (const TriedSize& size : plan.tried) tried.push_back(size_json(size));
  json document = plan.plan ? strategy_plan_json(*plan.plan) : json{{"best", nullptr}};
  document["schema"] = "headway/largest-plan/1";
  document["goal"] = {{"largest", words_of(plan.goal.of).goal}};
  document["tried"] = std::move(tried);
  document["largest"] = plan.plan ? size_json(plan.largest) : json(nullptr);
  return document;
}

}  // namespace headway
