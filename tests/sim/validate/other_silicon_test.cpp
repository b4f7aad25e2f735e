#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "sim/files/input_files.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/validation.h"

namespace headway {
namespace {

constexpr const char* kRows = "validation/other_silicon.json";

nlohmann::json file() {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(kRows, "scenarios");
  return root ? root->value() : nlohmann::json{};
}

/// Names of rows, by source, and whether they are held out.
std::map<std::string, std::map<std::string, bool>> halves() {
  const nlohmann::json root = file();
  std::map<std::string, std::size_t> column;
  for (std::size_t at = 0; at < root.at("columns").size(); ++at) column[root["columns"][at]] = at;
  std::map<std::string, std::map<std::string, bool>> by_source;
  for (const nlohmann::json& row : root.at("rows")) {
    const nlohmann::json& source = root.at("sources").at(row.at(column.at("source")));
    by_source[source.at("key")][row.at(column.at("id"))] =
        row.at(column.at("held_out")).get<bool>();
  }
  return by_source;
}

TEST(OtherSilicon, EverySecondRowOfASourceIsHeldOut) {
  int rows = 0;
  for (const auto& [source, members] : halves()) {
    bool held = false;
    for (const auto& [id, is_held] : members) {
      EXPECT_EQ(is_held, held) << id;
      held = !held;
      ++rows;
    }
  }
  EXPECT_GE(rows, 40);
}

struct Errors {
  double sum = 0.0;
  double count = 0.0;
  [[nodiscard]] double mean() const { return sum / count; }
};

TEST(OtherSilicon, RowsThatNothingWasFittedToComeOut) {
  std::set<std::string> held;
  for (const auto& [source, members] : halves()) {
    for (const auto& [id, is_held] : members) {
      if (is_held) held.insert(id);
    }
  }
  Diagnostics diagnostics;
  const Validation validation = validate_rows(kRows, {}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  std::map<std::pair<std::string, std::string>, Errors> of;  // by kind and accelerator
  Errors all;
  for (const ValidationRow& row : validation.rows) {
    ASSERT_TRUE(row.predicted_s.has_value()) << row.id << ": " << row.refused;
    EXPECT_TRUE(row.source_address.starts_with("https://")) << row.id;
    EXPECT_LT(std::abs(std::log(*row.predicted_s / row.published_s)), 0.6) << row.id;
    if (!held.contains(row.id)) continue;
    Errors& one = of[{row.kind == "moe" ? "moe" : "dense", row.accelerator}];
    one.sum += std::abs(row.error());
    one.count += 1.0;
    all.sum += std::abs(row.error());
    all.count += 1.0;
  }
  EXPECT_LT(all.mean(), 0.15);
  for (const auto& [which, errors] : of) {
    const double bound = which.first == "moe" ? 0.45 : 0.25;
    EXPECT_LT(errors.mean(), bound) << which.first << " on " << which.second;
  }
}

}  // namespace
}  // namespace headway
