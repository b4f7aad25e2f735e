#include "reports/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "reports/answers/reliability_report.h"
#include "reports/answers/shared_fabric_report.h"
#include "reports/answers/what_if_report.h"
#include "reports/sections/kinds_report.h"
#include "reports/sections/post_training_report.h"
#include "reports/sections/server_report.h"
#include "reports/sections/target_report.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/base/wrap_text.h"
#include "sim/result/decision/objective.h"
#include "sim/result/number_text.h"
#include "sim/result/run_cost.h"
#include "sim/result/words/advice.h"
#include "sim/result/words/anchor_sentence.h"
#include "sim/result/words/cost_text.h"
#include "sim/result/words/evidence_sentence.h"
#include "sim/result/words/memory_margin.h"

namespace headway {
namespace {

constexpr std::size_t kValueColumn = 16;  ///< behind labels

class TextReport {
 public:
  TextReport(const Prediction& prediction, bool colour)
      : prediction_(prediction), colour_(colour), scale_(prediction.iteration_time) {}

  std::string text() && {
    add_question();
    if (was_simulated(prediction_)) {
      add_speed();
      if (prediction_.anchor) {
        add_labelled("anchor", printable(anchor_sentence(*prediction_.anchor)));
      }
      add_evidence();
      add_scaling();
      add_memory();
      if (prediction_.input) add_labelled("input", input_sentence(*prediction_.input));
      if (prediction_.post_training) {
        add_labelled("post-training", post_training_sentence(*prediction_.post_training));
      }
      if (prediction_.statistics) {
        add_labelled("to the target", statistics_sentence(*prediction_.statistics));
      }
      add_run_time();
      add_cost();
      add_time_shares();
      if (prediction_.servers) text_ += server_text(*prediction_.servers);
      if (prediction_.accelerator_kinds) text_ += kinds_text(*prediction_.accelerator_kinds);
      if (prediction_.reliability) text_ += reliability_text(*prediction_.reliability);
      if (prediction_.shared_fabric) text_ += shared_fabric_text(*prediction_.shared_fabric);
      if (prediction_.what_if) text_ += what_if_text(*prediction_.what_if);
    } else {
      add_labelled("iteration", "not simulated");
      add_memory();
      text_ += "\n";
    }
    for (const std::string& warning : prediction_.warnings) add_warning(warning);
    add_closing();
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string marked(const char* code, std::string_view text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  [[nodiscard]] std::string bold(std::string_view text) const { return marked("1", text); }

  void add_labelled(std::string_view label, std::string_view value) {
    text_ += fmt::format("  {:<14}{}\n", label, value);
  }

  void add_question() {
    const Question& question = prediction_.question;
    text_ += fmt::format("{} on {} x {}, {} {}      {}\n", printable(question.model),
                         whole_number(question.nodes), printable(question.node_type),
                         whole_number(question.accelerators), plural(question.accelerators, "GPU"),
                         printable(work_text(prediction_)));
    text_ += fmt::format("profile {}, cluster {}\n\n", printable(question.profile),
                         printable(question.cluster));
  }

  void add_speed() {
    std::string line = bold(scale_.with_unit(prediction_.iteration_time));
    const Interval& interval = prediction_.iteration_interval;
    if (interval.high > interval.low) {
      line += fmt::format("   ({} .. {})", scale_.number(Seconds(interval.low)),
                          scale_.number(Seconds(interval.high)));
    }
    line +=
        fmt::format("      throughput   {} {}/s", bold(prefixed_count(prediction_.throughput())),
                    prediction_.counts_tokens() ? "tokens" : "samples");
    line += fmt::format("      MFU {}", bold(percent(prediction_.mfu) + " %"));
    add_labelled("iteration", line);
    if (!prediction_.shared_fabric) return;
    const double slowdown = prediction_.shared_fabric->slowdown;
    const Seconds alone = 1.0 / slowdown * prediction_.iteration_time;
    add_labelled("alone", fmt::format("{}; beside the other jobs {:.3f} times as long, as all "
                                      "numbers here are but for scaling",
                                      TimeScale(alone).with_unit(alone), slowdown));
  }

  void add_evidence() {
    add_labelled("rests on", printable(evidence_sentence(prediction_.confidence)));
    const std::string narrower = narrowing_sentence(prediction_);
    if (!narrower.empty()) add_labelled("narrower", printable(narrower));
  }

  void add_scaling() {
    if (!prediction_.scaling) return;
    const ScalingReference& reference = *prediction_.scaling;
    add_labelled(
        "scaling",
        fmt::format("{} of {} on {} GPU{} ({})", bold(percent(reference.efficiency) + " %"),
                    printable(reference.description), whole_number(reference.accelerators),
                    reference.accelerators == 1 ? "" : "s",
                    TimeScale(reference.iteration_time).with_unit(reference.iteration_time)));
  }

  void add_memory() {
    const MemoryPrediction& memory = prediction_.memory;
    const std::string place = memory.stages.size() <= 1
                                  ? "every rank"
                                  : fmt::format("the fullest rank ({})", fullest_place(memory));
    const std::string margin = memory_margin(memory);
    const std::string host = host_memory_text(memory);
    add_labelled("memory",
                 fmt::format("{} of {} on {}{}{}", bold(short_text(fullest_memory(memory).total())),
                             short_text(memory.capacity), place,
                             margin.empty() ? "" : "; " + margin, host.empty() ? "" : "; " + host));
  }

  void add_run_time() {
    const DecisionNumbers numbers = decision_numbers(prediction_);
    const std::string days = objective_text(Objective::run_time, numbers);
    if (days.empty()) return;
    add_labelled(
        objective_title(Objective::run_time),
        fmt::format("{}   ({}; 5th to 95th percentile{})", bold(days),
                    objective_interval_text(Objective::run_time, numbers),
                    prediction_.reliability ? ", failures counted" : ", without failures"));
  }

  void add_cost() {
    const std::optional<RunCost> cost = run_cost(prediction_);
    const std::string text = cost ? cost_text(*cost) : "";
    if (text.empty()) return;
    const std::string range =
        objective_interval_text(Objective::run_cost, decision_numbers(prediction_));
    add_labelled("cost", bold(text) + (cost->run ? " for the run" : " an iteration") +
                             (range.empty() ? "" : fmt::format("   ({})", range)));
  }

  void add_time_shares() {
    constexpr std::string_view kTitle = "where the time goes";
    text_ += fmt::format("\n  {:<25}{:>9}{:>8}{}\n", kTitle, scale_.unit(), "%",
                         is_of_workers(prediction_) ? "   of the average worker" : "");
    for (const TimeShare& share : largest_shares(prediction_)) {
      text_ += fmt::format("  {:<25}{:>9}{:>8}", cause_title(share.cause), scale_.part(share.time),
                           percent(share.share));
      const std::string_view remark = cause_remark(share.cause, prediction_);
      if (!remark.empty()) text_ += fmt::format("   {}", remark);
      text_ += "\n";
    }
    text_ += "\n";
  }

  /// Further lines of a warning stand below the first word of its first one.
  void add_warning(std::string_view warning) {
    std::string lead = marked("1;33", "warning:") + " ";
    while (true) {
      const std::size_t end = warning.find('\n');
      text_ += lead + printable(warning.substr(0, end)) + "\n";
      if (end == std::string_view::npos || end + 1 == warning.size()) return;
      warning.remove_prefix(end + 1);
      lead = "         ";
    }
  }

  void add_closing() {
    const std::string sentence = closing_sentence(prediction_);
    const std::size_t lead = sentence.find(':');
    if (prediction_.memory.fits || lead == std::string::npos) {
      text_ += sentence + "\n";
    } else {
      text_ += marked("1;31", sentence.substr(0, lead + 1)) + sentence.substr(lead + 1) + "\n";
    }
  }

  const Prediction& prediction_;
  bool colour_;
  TimeScale scale_;
  std::string text_;
};

/// Without the codes that colour it.
std::size_t shown_width(std::string_view line) {
  std::size_t codes = 0;
  for (std::size_t begin = line.find('\x1b'); begin != std::string_view::npos;) {
    const std::size_t end = line.find('m', begin);
    if (end == std::string_view::npos) break;
    codes += end + 1 - begin;
    begin = line.find('\x1b', end);
  }
  return character_count(line) - codes;
}

/// Where the last column of a line begins, if there is room for it; else where values stand behind
/// labels.
std::size_t hanging_indent(std::string_view line, std::size_t columns) {
  constexpr std::size_t kLeastRoom = 24;
  if (!line.starts_with("  ")) return 0;
  const std::size_t gap = line.rfind("   ");
  const bool has_room = gap != std::string_view::npos && gap + 3 + kLeastRoom <= columns;
  return has_room ? std::max(gap + 3, kValueColumn) : kValueColumn;
}

std::string folded(const std::string& text, std::size_t columns) {
  std::string folded;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (shown_width(line) <= columns) {
      folded += line + "\n";
      continue;
    }
    const std::size_t indent = hanging_indent(line, columns);
    std::string blanks;
    for (const std::string& part : wrapped(line, columns, 0, indent)) {
      folded += blanks + part.substr(0, part.find_last_not_of(' ') + 1) + "\n";
      blanks.assign(indent, ' ');
    }
  }
  return folded;
}

}  // namespace

std::string text_report(const Prediction& prediction, const Screen& screen) {
  return folded(TextReport(prediction, screen.colour).text(), screen.columns);
}

}  // namespace headway
