#include "sim/validate/free_constants.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

Document constants_document(const std::vector<FreeConstant>& constants) {
  TextTable table({{"constant"},
                   {"of"},
                   {"factor", kRight},
                   {"width", kRight},
                   {"left", kRight},
                   {"rows", kRight},
                   {"configurations", kRight},
                   {"sources", kRight}});
  for (const FreeConstant& constant : constants) {
    table.add_row({constant.constant, constant.of, fmt::format("{:.3f}", constant.factor),
                   fmt::format("{:.2f}", constant.width), fmt::format("{:.2f}", constant.spread),
                   grouped_digits(constant.rows), grouped_digits(constant.configurations),
                   grouped_digits(constant.sources)});
  }
  return {.title = "Free constants of the published profiles",
          .sections = {
              {"What each rests on",
               {table, Paragraph{fmt::format(
                           "{} free constants: factors on a prior (of a source: on what others "
                           "have), drawn from distributions of these widths; what the rows leave "
                           "of a width; and the published steps whose time it changes.",
                           constants.size())}}}}};
}

nlohmann::json constants_json(const std::vector<FreeConstant>& constants) {
  nlohmann::json list = nlohmann::json::array();
  for (const FreeConstant& constant : constants) {
    list.push_back({{"constant", constant.constant},
                    {"of", constant.of},
                    {"factor", constant.factor},
                    {"width", constant.width},
                    {"spread", constant.spread},
                    {"rows", constant.rows},
                    {"configurations", constant.configurations},
                    {"sources", constant.sources}});
  }
  return {{"schema", "headway/free-constants/1"}, {"constants", list}};
}

}  // namespace

Answer free_constants_answer(const std::vector<FreeConstant>& constants) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(constants_document(constants), screen.columns, 0);
              },
          .document = [&] { return constants_document(constants); },
          .json = [&] { return json_document_text(constants_json(constants)); },
          .csv =
              [&] {
                return csv_of(constants_json(constants).at("constants"),
                              {"constant", "of", "factor", "width", "spread", "rows",
                               "configurations", "sources"});
              }};
}

}  // namespace headway
