#include "reports/answers/study_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/reliability_report.h"
#include "reports/answers/what_if_report.h"
#include "reports/answers/winners_section.h"
#include "reports/csv_report.h"
#include "reports/document/csv_text.h"
#include "reports/document/markdown_document.h"
#include "reports/sections/prediction_sections.h"
#include "reports/sections/study_sections.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_text.h"
#include "sim/result/json/choice_json.h"
#include "sim/result/json/result_json.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"
#include "sim/result/words/fabric_remark.h"

namespace headway {
namespace {

std::string counts_sentence(const Study& study) {
  const auto simulated = std::ranges::count_if(study.points, has_speed);
  const auto short_of_memory = std::ranges::count_if(
      study.points, [](const StudyPoint& point) { return point.prediction && !has_speed(point); });
  const auto impossible = std::ssize(study.points) - simulated - short_of_memory;
  std::string text =
      fmt::format("{}: {} simulated", counted(std::ssize(study.points), "point"), simulated);
  if (short_of_memory > 0) {
    text += fmt::format(", {} {} not fit in memory", short_of_memory,
                        agreeing(short_of_memory, "does", "do"));
  }
  if (impossible > 0) {
    text += fmt::format(", {} {} not possible", impossible, agreeing(impossible, "is", "are"));
  }
  return text + ".";
}

constexpr const char* kAnchorAdvice =
    " `headway anchor` takes a measured step into the prediction.";

/// How measured points stand to the predictions of their sizes; empty where nothing was measured.
std::string measured_text(const Study& study, const std::vector<const StudyPoint*>& best) {
  std::string text;
  int judged = 0;
  int inside = 0;
  for (const MeasuredThroughput& measured : study.measured) {
    const auto found = std::ranges::find(best, measured.accelerators, [](const StudyPoint* point) {
      return point->prediction->question.accelerators;
    });
    if (found == best.end()) continue;
    const Prediction& prediction = *(*found)->prediction;
    const DecisionNumbers numbers = decision_numbers(prediction);
    const Interval interval = numbers.throughput_interval.value_or(Interval{});
    const bool is_inside =
        measured.per_second >= interval.low && measured.per_second <= interval.high;
    ++judged;
    inside += is_inside ? 1 : 0;
    text += fmt::format("{}on {} GPUs is {} % against the prediction{}", judged == 1 ? " " : "; ",
                        whole_number(measured.accelerators),
                        signed_percent(measured.per_second / throughput_of(prediction) - 1.0),
                        is_inside ? "" : " (outside its interval)");
  }
  if (judged == 0) return "";
  text = fmt::format(" Measured throughput{}.", text);
  if (judged == 1) return text + (inside == 1 ? " It lies in its interval." : kAnchorAdvice);
  if (inside == judged) return text + fmt::format(" All {} lie in their intervals.", judged);
  return text + fmt::format(" {} of {} lie outside of their intervals, which should hold 90 %.{}",
                            judged - inside, judged, kAnchorAdvice);
}

/// Why an axis of the fabric changes nothing; empty where it does, or no such axis varies.
std::string fabric_text(const Study& study, const Choice& choice) {
  const std::vector<StudyAxis> axes = varying_axes(study);
  if (axes.size() != 1 || !is_of_fabric(axes.front().name)) return "";
  const auto simulated = std::ranges::count_if(study.points, has_speed);
  if (std::ssize(choice.as_good) != simulated) return "";
  const std::string why = fabric_remark(*study.points[choice.best].prediction);
  return why.empty() ? "" : fmt::format(" It matters little: {}.", why);
}

/// `winners`: in the place of the choice, where points are not to be held against each other.
DocumentSection answer_of(const Study& study, const std::optional<Choice>& choice,
                          const std::vector<const StudyPoint*>& best, const std::string& winners) {
  DocumentSection section{"Answer", {}};
  if (!choice) {
    section.blocks.emplace_back(Paragraph{counts_sentence(study) + " None of them can run."});
    return section;
  }
  const Prediction& prediction = *study.points[choice->taken()].prediction;
  std::string text = counts_sentence(study) + " " +
                     (winners.empty() ? choice_text(*choice, candidates_of(study)) : winners);
  if (best.size() > 1 && winners.empty()) {
    const Prediction& small = *best.front()->prediction;
    const Prediction& large = *best.back()->prediction;
    const double more = static_cast<double>(large.question.accelerators) /
                        static_cast<double>(small.question.accelerators);
    const double faster = throughput_of(large) / throughput_of(small);
    text += fmt::format(
        " From {} to {} GPUs, {:.3g} times as many, throughput grows {:.3g}-fold: an efficiency of "
        "{} %.",
        whole_number(small.question.accelerators), whole_number(large.question.accelerators), more,
        faster, percent(faster / more));
  }
  text += fabric_text(study, *choice) + measured_text(study, best);
  const std::string of = candidate_of(study.points[choice->taken()]).name();
  if (study.points.size() > 1 && !of.empty()) text += fmt::format(" What follows is of {}.", of);
  section.blocks.emplace_back(Paragraph{text + " " + closing_sentence(prediction)});
  const DocumentSection detail = answer_section(prediction);
  for (const DocumentBlock& block : detail.blocks) {
    if (std::holds_alternative<KeyNumbers>(block) || std::holds_alternative<Notice>(block)) {
      section.blocks.push_back(block);
    }
  }
  return section;
}

DocumentSection reproduction_of(const Study& study, const StudyPoint& chosen) {
  DocumentSection section = reproduction_section(chosen.prediction->question);
  if (study.command_line.empty()) return section;
  section.blocks.insert(section.blocks.begin(),
                        {Paragraph{"All points, then the answer alone:"},
                         Code{.text = study.command_line, .language = "sh"}});
  return section;
}

}  // namespace

bool has_speed(const StudyPoint& point) {
  return point.prediction && was_simulated(*point.prediction);
}

double throughput_of(const Prediction& prediction) { return prediction.throughput(); }

std::string throughput_unit(const Prediction& prediction) {
  return prediction.counts_tokens() ? "tokens" : "samples";
}

Candidate candidate_of(const StudyPoint& point) {
  return {point.axes, point.prediction ? decision_numbers(*point.prediction) : DecisionNumbers{}};
}

std::vector<Candidate> candidates_of(const Study& study) {
  std::vector<Candidate> candidates;
  for (const StudyPoint& point : study.points) candidates.push_back(candidate_of(point));
  return candidates;
}

std::vector<const StudyPoint*> best_by_scale(const Study& study) {
  std::map<std::int64_t, const StudyPoint*> best;
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point)) continue;
    const StudyPoint*& known = best[point.prediction->question.accelerators];
    if (known == nullptr || throughput_of(*point.prediction) > throughput_of(*known->prediction)) {
      known = &point;
    }
  }
  std::vector<const StudyPoint*> list;
  for (const auto& [count, point] : best) list.push_back(point);
  return list;
}

DocumentSection points_section(const Study& study) {
  std::vector<TextTable::Column> columns;
  if (!study.points.empty()) {
    for (const auto& [axis, value] : study.points.front().axes) columns.push_back({axis, kRight});
  }
  for (const char* const title : {"GPUs", "iteration", "throughput /s", "MFU %", "memory %"}) {
    columns.push_back({title, kRight});
  }
  const std::vector<Candidate> candidates = candidates_of(study);
  const std::vector<Objective> shown = objectives_beside_throughput(candidates);
  for (const Objective objective : shown) {
    columns.push_back({std::string(objective_title(objective)), kRight});
  }
  columns.push_back({"remark"});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const StudyPoint& point = study.points[i];
    std::vector<std::string> row;
    for (const auto& [axis, value] : point.axes) row.push_back(value);
    if (has_speed(point)) {
      const Prediction& prediction = *point.prediction;
      row.push_back(whole_number(prediction.question.accelerators));
      row.push_back(TimeScale(prediction.iteration_time).with_unit(prediction.iteration_time));
      row.push_back(prefixed_count(throughput_of(prediction)));
      row.push_back(percent(prediction.mfu));
      row.push_back(
          percent(fullest_memory(prediction.memory).total() / prediction.memory.capacity));
      for (const Objective objective : shown) {
        row.push_back(objective_text(objective, candidates[i].numbers));
      }
    } else {
      row.resize(row.size() + 5 + shown.size());
    }
    row.push_back(point.reason);
    table.add_row(std::move(row));
  }
  return {"All points", {std::move(table)}};
}

Document study_document(const Study& study) {
  const std::vector<const StudyPoint*> best = best_by_scale(study);
  const std::optional<Choice> choice = choice_of(candidates_of(study));
  Document document;
  document.title = study.name;
  const std::string winners = winners_sentence(study);
  document.sections.push_back(answer_of(study, choice, best, winners));
  const auto add = [&](DocumentSection section) {
    if (!section.blocks.empty()) document.sections.push_back(std::move(section));
  };
  add(winners_section(study));
  if (choice && winners.empty()) add(axis_section(study, choice->objective));
  const bool has_scale = best.size() > 1 || (!best.empty() && !study.measured.empty());
  if (has_scale) document.sections.push_back(scaling_section(study, best));
  if (!best.empty()) document.sections.push_back(time_by_scale_section(best));
  add(strategy_section(study));
  if (choice) {
    const Prediction& prediction = *study.points[choice->taken()].prediction;
    document.lead = fmt::format("{} on {}; profile {}.", prediction.question.model,
                                prediction.question.cluster, prediction.question.profile);
    if (prediction.reliability) {
      document.sections.push_back(reliability_section(*prediction.reliability));
    }
    if (prediction.what_if) document.sections.push_back(what_if_section(*prediction.what_if));
    document.sections.push_back(memory_section(prediction.memory));
    document.sections.back().heading = "Memory of the answer";
    document.sections.push_back(fabric_section(prediction));
    document.sections.back().heading = "Fabric: busiest links of the answer";
  }
  document.sections.push_back(points_section(study));
  if (choice) {
    const StudyPoint& chosen = study.points[choice->taken()];
    document.sections.push_back(trust_section(*chosen.prediction));
    document.sections.push_back(reproduction_of(study, chosen));
  }
  return document;
}

void StudyCsv::add(const StudyPoint& point) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const auto& [axis, value] : point.axes) {
    names.push_back("axis " + axis);
    values.push_back(value);
  }
  names.emplace_back("reason");
  values.push_back(point.reason);
  const std::string table =
      csv_table({point.prediction ? &*point.prediction : nullptr, point.prediction ? 1U : 0U});
  const std::size_t header_end = table.find('\n');
  if (!has_header_) out_ << csv_cells(names) << "," << table.substr(0, header_end + 1);
  has_header_ = true;
  const std::string row = table.substr(header_end + 1);
  out_ << csv_cells(values) << (row.empty() ? "\n" : "," + row);
}

void write_study_csv(const Study& study, std::ostream& out) {
  StudyCsv csv(out);
  for (const StudyPoint& point : study.points) csv.add(point);
}

std::string study_json_text(const Study& study) {
  nlohmann::json points = nlohmann::json::array();
  for (const StudyPoint& point : study.points) {
    nlohmann::json axes = nlohmann::json::object();
    for (const auto& [axis, value] : point.axes) axes[axis] = value;
    points.push_back(
        {{"axes", std::move(axes)},
         {"reason", point.reason},
         {"result", point.prediction ? result_json(*point.prediction) : nlohmann::json(nullptr)}});
  }
  return json_text({{"schema", "headway/study/1"},
                    {"name", study.name},
                    {"choice", choice_json(candidates_of(study))},
                    {"command_line", study.command_line},
                    {"points", std::move(points)}});
}

Answer study_answer(const Study& study) {
  return {.text = [&](const Screen&) { return markdown_of(study_document(study)); },
          .document = [&] { return study_document(study); },
          .json = [&] { return study_json_text(study); },
          .csv = [&](std::ostream& out) { write_study_csv(study, out); }};
}

}  // namespace headway
