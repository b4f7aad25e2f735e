#include "sim/validate/row_pairs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"

namespace headway {
namespace {

Document pairs_document(const std::vector<KnobPairs>& knobs) {
  TextTable table({{"what differs"},
                   {"pairs", kRight},
                   {"slope", kRight},
                   {"right sign", kRight},
                   {"median error, points", kRight}});
  for (const KnobPairs& knob : knobs) {
    table.add_row({knob.knob, grouped_digits(static_cast<std::int64_t>(knob.pairs.size())),
                   fmt::format("{:.2f}", knob.slope),
                   knob.telling == 0 ? "" : fmt::format("{} of {}", knob.right_sign, knob.telling),
                   fmt::format("{:.1f}", 100.0 * knob.median_error)});
  }
  const std::string closing =
      knobs.empty()
          ? std::string("No two rows of one source differ in one thing only.")
          : fmt::format(
                "Of {} pairs, predicted effects are {:.2f} times as large as published ones, and "
                "{} of the {} that changed more than 2 % have the right sign.",
                grouped_digits(static_cast<std::int64_t>(knobs.front().pairs.size())),
                knobs.front().slope, knobs.front().right_sign, knobs.front().telling);
  return {.title = "What changing one thing does",
          .sections = {{"Rows of one source that differ in one thing",
                        {table,
                         Paragraph{"Effects are on the tokens that an accelerator trains in a "
                                   "second. The slope is of predicted over published effects, "
                                   "in logarithms, through zero."},
                         Paragraph{closing}}}}};
}

nlohmann::json pairs_json(const std::vector<KnobPairs>& knobs) {
  nlohmann::json list = nlohmann::json::array();
  for (const KnobPairs& knob : knobs) {
    nlohmann::json of_knob = {{"knob", knob.knob},
                              {"count", knob.pairs.size()},
                              {"slope", knob.slope},
                              {"telling", knob.telling},
                              {"right_sign", knob.right_sign},
                              {"median_error", knob.median_error}};
    if (knob.knob != "all") {
      of_knob["pairs"] = nlohmann::json::array();
      for (const RowPair& pair : knob.pairs) {
        of_knob["pairs"].push_back({{"first", pair.first},
                                    {"second", pair.second},
                                    {"published", pair.published},
                                    {"predicted", pair.predicted}});
      }
    }
    list.push_back(std::move(of_knob));
  }
  return {{"schema", "headway/row-pairs/1"}, {"knobs", list}};
}

/// A pair a record.
nlohmann::json records(const std::vector<KnobPairs>& knobs) {
  nlohmann::json list = nlohmann::json::array();
  const nlohmann::json all = pairs_json(knobs);
  for (const nlohmann::json& knob : all.at("knobs")) {
    if (!knob.contains("pairs")) continue;
    for (nlohmann::json pair : knob.at("pairs")) {
      pair["knob"] = knob.at("knob");
      list.push_back(std::move(pair));
    }
  }
  return list;
}

}  // namespace

Answer row_pairs_answer(const std::vector<KnobPairs>& knobs) {
  return {
      .text =
          [&](const Screen& screen) {
            return brief_text_of(pairs_document(knobs), screen.columns, 0);
          },
      .document = [&] { return pairs_document(knobs); },
      .json = [&] { return json_document_text(pairs_json(knobs)); },
      .csv =
          [&] {
            return csv_of(records(knobs), {"knob", "first", "second", "published", "predicted"});
          }};
}

}  // namespace headway
