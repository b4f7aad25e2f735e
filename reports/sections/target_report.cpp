#include "reports/sections/target_report.h"

#include <fmt/format.h>

#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {

std::string statistics_sentence(const StepsToTarget& of) {
  std::string text = fmt::format("{} steps, samples {} % as good as in small batches",
                                 prefixed_count(of.steps), percent(of.efficiency));
  if (of.staleness > 0.0) text += fmt::format(", updates stale by {:.2f}", of.staleness);
  if (of.penalty != 1.0)
    text += fmt::format(", {:g} times the steps as the scenario has it", of.penalty);
  text += fmt::format("; twice the GPUs and batch save {} % of them", percent(of.doubling_saves));
  return text + fmt::format(", less than a quarter from {} GPUs on", prefixed_count(of.pays_up_to));
}

std::string input_sentence(const InputUse& of) {
  std::string text = fmt::format("{} % of samples from storage, at {}", percent(of.read_share),
                                 short_text(of.storage_rate));
  if (of.prepare > Seconds(0.0))
    text += fmt::format("; {} to prepare a step's", short_text(of.prepare));
  text += of.stalled > Seconds(0.0)
              ? fmt::format("; a step waits {} for them", short_text(of.stalled))
              : std::string("; no step waits for them");
  text += fmt::format(", {} in the first epoch", short_text(of.first_epoch_step));
  if (of.checkpoint > Seconds(0.0)) {
    text += fmt::format(", {} beside a checkpoint, which takes {} to store",
                        short_text(of.checkpoint_step), short_text(of.checkpoint));
  }
  return text;
}

DocumentSection target_section(const Prediction& prediction) {
  DocumentSection section{prediction.statistics ? "Steps to the target" : "Input", {}};
  if (prediction.statistics) {
    section.blocks.emplace_back(Paragraph{statistics_sentence(*prediction.statistics) + "."});
    section.blocks.emplace_back(Paragraph{
        "Steps by batch size: McCandlish et al. 2018 (arXiv:1812.06162), with the noise scale that "
        "the scenario gives; staleness: Stich and Karimireddy 2020 (arXiv:1909.05350)."});
  }
  if (prediction.input) {
    section.blocks.emplace_back(Paragraph{"Input: " + input_sentence(*prediction.input) + "."});
  }
  return section;
}

}  // namespace headway
