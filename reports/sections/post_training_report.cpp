#include "reports/sections/post_training_report.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

struct Phase {
  std::string name;
  Seconds time;
};

std::vector<Phase> phases(const PostTraining& of) {
  return {{"generating", of.generation},
          {"log probabilities", of.log_probabilities},
          {"training", of.training},
          {"transfer of weights", of.transfer}};
}

/// What is waited for where generating and learning go on side by side.
std::string limit_text(const PostTraining& of) {
  return of.generation > of.learning() ? fmt::format("generating limits it, learning waits {}",
                                                     short_text(of.generation - of.learning()))
                                       : fmt::format("learning limits it, generating waits {}",
                                                     short_text(of.learning() - of.generation));
}

TextTable phase_table(const PostTraining& of) {
  TextTable table({{"phase of a step"}, {"time", kRight}});
  for (const auto& [name, time] : phases(of)) table.add_row({name, short_text(time)});
  table.add_row(
      {of.is_side_by_side() ? "step, side by side" : "step, in turns", short_text(of.step)});
  return table;
}

}  // namespace

std::string post_training_sentence(const PostTraining& of) {
  std::string text = fmt::format("{} a step: generating {}, log probabilities {}, training {}",
                                 short_text(of.step), short_text(of.generation),
                                 short_text(of.log_probabilities), short_text(of.training));
  if (of.iterations != 1.0) text += fmt::format(" ({:.2f} iterations)", of.iterations);
  text += fmt::format(", weights {}", short_text(of.transfer));
  if (of.is_side_by_side()) text += "; side by side: " + limit_text(of);
  return text + fmt::format("; {:.0f} tokens/s/GPU on {} GPUs",
                            of.tokens_per_second / static_cast<double>(of.accelerators),
                            whole_number(of.accelerators));
}

DocumentSection post_training_section(const PostTraining& of) {
  Chart chart{.kind = Chart::Kind::bars, .x_title = "seconds"};
  Chart::Series series{.name = "time", .colour = 1};
  for (const auto& [name, time] : phases(of)) {
    chart.labels.push_back(name);
    series.values.push_back(time.count());
  }
  chart.series.push_back(std::move(series));
  return {"Post-training",
          {Paragraph{post_training_sentence(of) + "."},
           Figure{.title = "What a step of it takes",
                  .caption = "No published breakdown of such steps was held against these.",
                  .picture = std::move(chart),
                  .table = phase_table(of)}}};
}

}  // namespace headway
