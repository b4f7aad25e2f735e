#include "reports/answers/prediction_document.h"

#include <fmt/format.h>

#include "reports/answers/answers.h"
#include "reports/answers/reliability_report.h"
#include "reports/answers/shared_fabric_report.h"
#include "reports/answers/what_if_report.h"
#include "reports/csv_report.h"
#include "reports/sections/kinds_report.h"
#include "reports/sections/post_training_report.h"
#include "reports/sections/prediction_sections.h"
#include "reports/sections/server_report.h"
#include "reports/sections/target_report.h"
#include "reports/text_report.h"
#include "sim/base/quantity_text.h"
#include "sim/result/json/result_json.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"

namespace headway {

Document prediction_document(const Prediction& prediction) {
  const Question& question = prediction.question;
  Document document;
  document.title = fmt::format("{} on {} x {}, {} {}", question.model, whole_number(question.nodes),
                               question.node_type, whole_number(question.accelerators),
                               plural(question.accelerators, "GPU"));
  document.lead = fmt::format("{}; profile {}, cluster {}.", work_text(prediction),
                              question.profile, question.cluster);
  const bool has_times = was_simulated(prediction);
  document.sections.push_back(answer_section(prediction));
  if (has_times) document.sections.push_back(time_section(prediction));
  if (prediction.statistics || prediction.input) {
    document.sections.push_back(target_section(prediction));
  }
  if (prediction.post_training) {
    document.sections.push_back(post_training_section(*prediction.post_training));
  }
  if (prediction.servers) document.sections.push_back(server_section(*prediction.servers));
  if (prediction.accelerator_kinds) {
    document.sections.push_back(kinds_section(*prediction.accelerator_kinds));
  }
  if (auto cost = cost_section(prediction)) document.sections.push_back(std::move(*cost));
  if (prediction.reliability) {
    document.sections.push_back(reliability_section(*prediction.reliability));
  }
  if (prediction.shared_fabric) {
    document.sections.push_back(shared_fabric_section(*prediction.shared_fabric));
  }
  if (prediction.what_if) document.sections.push_back(what_if_section(*prediction.what_if));
  document.sections.push_back(memory_section(prediction.memory));
  if (has_times) {
    document.sections.push_back(iteration_section(prediction));
    document.sections.push_back(fabric_section(prediction));
  }
  document.sections.push_back(trust_section(prediction));
  document.sections.push_back(reproduction_section(question));
  return document;
}

Answer prediction_answer(const Prediction& prediction) {
  return {.text = [&](const Screen& screen) { return text_report(prediction, screen); },
          .document = [&] { return prediction_document(prediction); },
          .json = [&] { return result_json_text(prediction); },
          .csv = [&] { return csv_report(prediction); }};
}

}  // namespace headway
