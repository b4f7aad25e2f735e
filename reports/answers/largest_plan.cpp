#include "sim/plan/largest_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/strategy_plan.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

using nlohmann::json;

/// How tables and sentences call what is made larger.
struct SizeNames {
  std::string_view column;
  std::string_view superlative;
};
SizeNames names_of(LargestGoal::Of of) {
  switch (of) {
    case LargestGoal::Of::model:
      return {"model", "largest model"};
    case LargestGoal::Of::width:
      return {"hidden", "largest hidden size"};
    case LargestGoal::Of::layers:
      return {"layers", "largest number of layers"};
    case LargestGoal::Of::context:
      break;
  }
  return {"tokens", "longest context"};
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

TextTable tried_table(const LargestPlan& plan) {
  TextTable table(
      {{std::string(names_of(plan.goal.of).column), kRight}, {"parameters", kRight}, {""}});
  for (const TriedSize& size : plan.tried) {
    table.add_row({value_text(size), parameters_text(size.parameters),
                   size.reason.empty() ? "fits" : size.reason});
  }
  return table;
}

/// Which models of the library were tried; empty where it was not looked through.
std::string tried_text(const LargestPlan& plan) {
  if (plan.goal.of != LargestGoal::Of::model) return "";
  return fmt::format(
      "Tried: models of the library that train on {}, as the scenario's does; the largest first.",
      plan.counts_tokens ? "tokens" : "samples");
}

std::string answer_text(const LargestPlan& plan) {
  if (!plan.plan) return "None of them fits.";
  const Prediction& best = plan.plan->leaders.front().prediction;
  return fmt::format("The {} that fits is {}: {} parameters, {} {}/s.",
                     names_of(plan.goal.of).superlative, value_text(plan.largest),
                     parameters_text(plan.largest.parameters), prefixed_count(best.throughput()),
                     best.counts_tokens() ? "tokens" : "samples");
}

/// What was tried, then the plan of what fits.
std::string largest_plan_text(const LargestPlan& plan, const Screen& screen) {
  const std::string text = tried_table(plan).text(2, screen.columns) + "\n" + answer_text(plan) +
                           "\n" + (tried_text(plan).empty() ? "" : tried_text(plan) + "\n");
  return plan.plan ? text + "\n" + brief_text_of(strategy_plan_document(*plan.plan), screen.columns)
                   : text;
}

DocumentSection tried_section(const LargestPlan& plan) {
  DocumentSection section{"What was tried", {tried_table(plan)}};
  const std::string text = tried_text(plan);
  if (!text.empty()) section.blocks.insert(section.blocks.begin(), Paragraph{text});
  return section;
}

Document largest_plan_document(const LargestPlan& plan) {
  if (!plan.plan) {
    return {.title = answer_text(plan), .sections = {tried_section(plan)}};
  }
  Document document = strategy_plan_document(*plan.plan);
  document.lead = document.title + "\n" + document.lead;
  document.title = answer_text(plan);
  document.sections.push_back(tried_section(plan));
  return document;
}

json largest_plan_json(const LargestPlan& plan) {
  json tried = json::array();
  for (const TriedSize& size : plan.tried) tried.push_back(size_json(size));
  json document = plan.plan ? strategy_plan_json(*plan.plan) : json{{"best", nullptr}};
  document["schema"] = "headway/largest-plan/1";
  document["goal"] = {{"largest", word_of(plan.goal.of)}};
  document["tried"] = std::move(tried);
  document["largest"] = plan.plan ? size_json(plan.largest) : json(nullptr);
  return document;
}

}  // namespace

Answer largest_plan_answer(const LargestPlan& plan) {
  return {.text = [&](const Screen& screen) { return largest_plan_text(plan, screen); },
          .document = [&] { return largest_plan_document(plan); },
          .json = [&] { return json_document_text(largest_plan_json(plan)); },
          .csv =
              [&] {
                return csv_of(largest_plan_json(plan).at("tried"),
                              {"value", "model", "parameters", "reason"});
              }};
}

}  // namespace headway
