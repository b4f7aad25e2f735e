#include "reports/markdown_report.h"

#include <fmt/format.h>

#include <array>

#include "reports/advice.h"
#include "reports/anchor_sentence.h"
#include "reports/markdown_sections.h"
#include "reports/markdown_text.h"
#include "reports/number_text.h"
#include "reports/what_if_report.h"
#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"

namespace headway {
namespace {

/// What a rate would be if the iteration took `interval` instead of its median, lowest first.
Interval rate_interval(double rate, const Prediction& prediction) {
  const double work = rate * prediction.iteration_time.count();
  const Interval& time = prediction.iteration_interval;
  if (!(time.low > 0.0) || !(time.high > 0.0)) return {rate, rate};
  return {work / time.high, work / time.low};
}

std::string title(const Question& question) {
  return fmt::format("# {} on {} x {}, {} GPUs\n\n{}; profile {}, cluster {}.\n",
                     markdown_text(question.model), whole_number(question.nodes),
                     markdown_text(question.node_type), whole_number(question.accelerators),
                     markdown_text(question.strategy), markdown_text(question.profile),
                     markdown_text(question.cluster));
}

bool counts_tokens(const Prediction& prediction) { return prediction.tokens_per_second > 0.0; }

std::string throughput_text(const Prediction& prediction, double rate) {
  return prefixed_count(rate) + (counts_tokens(prediction) ? " tokens/s" : " samples/s");
}

double throughput(const Prediction& prediction) {
  return counts_tokens(prediction) ? prediction.tokens_per_second : prediction.samples_per_second;
}

std::string sentences(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  std::string text =
      fmt::format("One iteration {} {}", prediction.memory.fits ? "takes" : "would take",
                  scale.with_unit(prediction.iteration_time));
  if (prediction.replicas > 1) {
    text += fmt::format(", the median of {} simulated runs", prediction.replicas);
  }
  text += fmt::format(". That is {} at an MFU of {} %, {} of model work a second on each GPU. {}\n",
                      throughput_text(prediction, throughput(prediction)), percent(prediction.mfu),
                      short_text(Flops(prediction.model_flops_per_second_per_accelerator)),
                      markdown_text(closing_sentence(prediction)));
  return text;
}

std::string numbers(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  TextTable table({{"number"},
                   {"median", TextTable::Align::right},
                   {"5th to 95th percentile", TextTable::Align::right}});
  const Interval& time = prediction.iteration_interval;
  table.add_row({"iteration", scale.with_unit(prediction.iteration_time),
                 fmt::format("{} .. {}", scale.number(Seconds(time.low)),
                             scale.with_unit(Seconds(time.high)))});
  const Interval rate = rate_interval(throughput(prediction), prediction);
  table.add_row(
      {"throughput", throughput_text(prediction, throughput(prediction)),
       fmt::format("{} .. {}", prefixed_count(rate.low), throughput_text(prediction, rate.high))});
  const double flops = prediction.model_flops_per_second_per_accelerator;
  const Interval work = rate_interval(flops, prediction);
  table.add_row({"model work a GPU", short_text(FlopsPerSecond(flops)),
                 fmt::format("{} .. {}", short_text(FlopsPerSecond(work.low)),
                             short_text(FlopsPerSecond(work.high)))});
  const Interval mfu = rate_interval(prediction.mfu, prediction);
  table.add_row({"MFU", percent(prediction.mfu) + " %",
                 fmt::format("{} .. {} %", percent(mfu.low), percent(mfu.high))});
  return table.markdown();
}

std::string further_numbers(const Prediction& prediction) {
  std::string text = fmt::format(
      "HFU, which counts recomputed operations too, is {} %; MFU with attention counted over the "
      "whole square is {} %.",
      percent(prediction.hfu), percent(prediction.mfu_whole_square));
  if (prediction.scaling) {
    const ScalingReference& reference = *prediction.scaling;
    text +=
        fmt::format(" Scaling efficiency is {} % of {} on {} GPUs, where an iteration takes {}.",
                    percent(reference.efficiency), markdown_text(reference.description),
                    whole_number(reference.accelerators),
                    TimeScale(reference.iteration_time).with_unit(reference.iteration_time));
  }
  text += "\n";
  if (prediction.anchor) {
    text += fmt::format("\nAnchored by a measured step: {}.\n",
                        markdown_text(anchor_sentence(*prediction.anchor)));
  }
  return text;
}

std::string answer(const Prediction& prediction) {
  if (!was_simulated(prediction)) {
    return fmt::format("## Answer\n\n{} It was not simulated.\n",
                       markdown_text(closing_sentence(prediction)));
  }
  return fmt::format("## Answer\n\n{}\n{}\n{}", sentences(prediction), numbers(prediction),
                     further_numbers(prediction));
}

/// A heading and a line for each item; nothing without items.
std::string list_section(const std::string& heading, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("## {}\n\n", heading);
  for (const std::string& item : items) text += fmt::format("- {}\n", markdown_text(item));
  return text;
}

}  // namespace

std::string markdown_report(const Prediction& prediction) {
  std::string text = title(prediction.question);
  const bool has_times = was_simulated(prediction);
  const std::array sections{answer(prediction),
                            list_section("Warnings", prediction.warnings),
                            has_times ? time_section(prediction) : "",
                            prediction.what_if ? what_if_section(*prediction.what_if) : "",
                            memory_section(prediction.memory),
                            has_times ? critical_path_section(prediction) : "",
                            has_times ? links_section(prediction.busiest_links) : "",
                            list_section("What is not modelled", prediction.not_modelled),
                            reproduction_section(prediction.question)};
  for (const std::string& section : sections) {
    if (!section.empty()) text += '\n';
    text += section;
  }
  return text;
}

}  // namespace headway
