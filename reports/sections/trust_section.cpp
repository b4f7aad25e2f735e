#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/sections/prediction_sections.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"
#include "sim/result/words/evidence_sentence.h"

namespace headway {
namespace {

std::string interval_text(const Prediction& prediction) {
  const Confidence& confidence = prediction.confidence;
  std::string text = fmt::format("What this rests on: {}. ", evidence_sentence(confidence));
  text +=
      "The intervals should hold 90 % of measured jobs like this one (5th to 95th percentile). ";
  if (prediction.anchor) {
    return text +
           "They follow from a measured step of the user's own run: how far configurations of one "
           "source differ once one of them is known.";
  }
  text += prediction.replicas == 1
              ? "They multiply two independent errors"
              : fmt::format(
                    "They multiply three independent errors: how far {} simulated runs "
                    "differ",
                    prediction.replicas);
  text += fmt::format(
      "{} how well the costs of kernels are known ({} %, one standard deviation), and how far the "
      "model was off on published steps of sources that its constants had not seen ({} % on {}).",
      prediction.replicas == 1 ? ":" : ",", percent(confidence.kernel_spread),
      percent(confidence.model_error), confidence.job_kind);
  if (confidence.accelerator_error > 0.0) {
    text += fmt::format(
        " Nobody measured training on {}, so {} % more are allowed for: what published steps of "
        "other silicon were off by that nothing was fitted to.",
        confidence.accelerator.of, percent(confidence.accelerator_error));
  }
  if (confidence.beyond_calibration) {
    text += " Some kernels lie outside of what the profile was measured on.";
  }
  const std::string narrower = narrowing_sentence(prediction);
  return narrower.empty() ? text : fmt::format("{} Narrower: {}.", text, narrower);
}

}  // namespace

DocumentSection trust_section(const Prediction& prediction) {
  DocumentSection section{"How far to trust it", {}};
  if (was_simulated(prediction)) section.blocks.emplace_back(Paragraph{interval_text(prediction)});
  const nlohmann::json& provenance = prediction.question.provenance;
  if (provenance.is_object() && provenance.contains("profile_provenance") &&
      provenance.at("profile_provenance").is_string()) {
    section.blocks.emplace_back(
        Paragraph{fmt::format("Costs come from profile {}: {}.", prediction.question.profile,
                              provenance.at("profile_provenance").get<std::string>())});
  }
  if (!prediction.not_modelled.empty()) {
    section.blocks.emplace_back(Paragraph{"Not modelled:"});
    section.blocks.emplace_back(BulletList{prediction.not_modelled});
  }
  return section;
}

}  // namespace headway
