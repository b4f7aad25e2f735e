#include "reports/csv_report.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/document/csv_text.h"
#include "sim/result/decision/objective.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

class Row {
 public:
  void add(std::string_view header, std::string_view cell) {
    headers_ += headers_.empty() ? "" : ",";
    headers_ += header;
    cells_ += is_first_ ? "" : ",";
    cells_ += cell;
    is_first_ = false;
  }
  void add_known(std::string_view header, bool is_known, double value) {
    add(header, is_known ? csv_number(value) : "");
  }

  void add_interval(std::string_view name, std::string_view unit,
                    const std::optional<Interval>& interval) {
    const Interval known = interval.value_or(Interval{});
    add_known(fmt::format("{}_p5_{}", name, unit), interval.has_value(), known.low);
    add_known(fmt::format("{}_p95_{}", name, unit), interval.has_value(), known.high);
  }

  [[nodiscard]] std::string headers() const { return headers_ + "\n"; }
  [[nodiscard]] std::string cells() const { return cells_ + "\n"; }

 private:
  std::string headers_;
  std::string cells_;
  bool is_first_ = true;
};

Row row_of(const Prediction& prediction) {
  const Question& question = prediction.question;
  const bool known = was_simulated(prediction);
  Row row;
  row.add("model", csv_cell(question.model));
  row.add("cluster", csv_cell(question.cluster));
  row.add("node_type", csv_cell(question.node_type));
  row.add("gpus", fmt::format("{}", question.accelerators));
  row.add("strategy", csv_cell(question.strategy));
  row.add("profile", csv_cell(question.profile));
  row.add("fits", prediction.memory.fits ? "true" : "false");
  row.add_known("iteration_time_s", known, prediction.iteration_time.count());
  row.add_known("iteration_time_p5_s", known, prediction.iteration_interval.low);
  row.add_known("iteration_time_p95_s", known, prediction.iteration_interval.high);
  row.add_known("samples_per_s", known, prediction.samples_per_second);
  const bool counts_tokens = known && prediction.tokens_per_second > 0.0;
  row.add_known("tokens_per_s", counts_tokens, prediction.tokens_per_second);
  row.add_known("tokens_per_s_per_gpu", counts_tokens,
                prediction.tokens_per_second_per_accelerator);
  row.add_known("model_tflops_per_gpu", known,
                prediction.model_flops_per_second_per_accelerator / 1e12);
  row.add_known("mfu", known, prediction.mfu);
  row.add_known("hfu", known, prediction.hfu);
  row.add_known("scaling_efficiency", known && prediction.scaling,
                prediction.scaling ? prediction.scaling->efficiency : 0.0);
  const DecisionNumbers of = decision_numbers(prediction);
  row.add_known("goodput", of.goodput.has_value(), of.goodput.value_or(0.0));
  row.add_known("run_time_s", of.run_time.has_value(), of.run_time.value_or(Seconds()).count());
  row.add_interval("run_time", "s", of.run_time_interval);
  row.add_known("run_cost_usd", of.run_usd.has_value(), of.run_usd.value_or(0.0));
  row.add_interval("run_cost", "usd", of.run_usd_interval);
  row.add("memory_bytes", csv_number(fullest_memory(prediction.memory).total().count()));
  row.add("memory_capacity_bytes", csv_number(prediction.memory.capacity.count()));
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    row.add_known(fmt::format("{}_s", cause_name(cause)), known,
                  prediction.breakdown[cause].count());
  }
  return row;
}

}  // namespace

std::string csv_table(std::span<const Prediction> predictions) {
  std::string text = row_of(predictions.empty() ? Prediction{} : predictions.front()).headers();
  for (const Prediction& prediction : predictions) text += row_of(prediction).cells();
  return text;
}

std::string csv_report(const Prediction& prediction) { return csv_table({&prediction, 1}); }

}  // namespace headway
