#include "sim/validate/validation_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace headway {
namespace {

/// "9..64": a band of job sizes in powers of eight. The width keeps the words in order of size.
std::string scale_of(const ValidationRow& row) {
  std::int64_t most = 8;
  while (most < row.accelerators) most *= 8;
  return fmt::format("{:>5}..{}", most == 8 ? 1 : most / 8 + 1, most);
}

constexpr std::array<RowProperty, 6> kProperties{{
    {"kind", "kind", [](const ValidationRow& row) { return row.kind; }},
    {"framework", "framework", [](const ValidationRow& row) { return row.framework; }},
    {"source", "source", [](const ValidationRow& row) { return row.source; }},
    {"gpu", "accelerator", [](const ValidationRow& row) { return row.accelerator; }},
    {"precision", "precision", [](const ValidationRow& row) { return row.precision; }},
    {"scale", "accelerators", scale_of},
}};

}  // namespace

ErrorStatistics error_statistics(std::vector<ErrorItem> items) {
  ErrorStatistics result;
  result.count = std::ssize(items);
  if (items.empty()) return result;
  std::ranges::sort(items, {}, &ErrorItem::size);
  const auto count = static_cast<double>(items.size());
  for (const ErrorItem& item : items) {
    result.mean += item.size / count;
    result.bias += item.error / count;
    result.covered += item.covered / count;
  }
  const auto quantile = [&](double q) {
    return items[static_cast<std::size_t>(std::lround(q * (count - 1.0)))].size;
  };
  result.median = quantile(0.5);
  result.p90 = quantile(0.9);
  result.worst = items.back().size;
  return result;
}

ErrorItem error_item(const ValidationRow& row) {
  return {std::abs(row.error()), row.error(), row.is_covered() ? 1.0 : 0.0};
}

ErrorItem mean_item(const std::vector<ErrorItem>& items) {
  ErrorItem mean;
  for (const ErrorItem& item : items) {
    mean.size += item.size / static_cast<double>(items.size());
    mean.error += item.error / static_cast<double>(items.size());
    mean.covered += item.covered / static_cast<double>(items.size());
  }
  return mean;
}

namespace {

ValidationSummary summary_of(std::string_view by, std::string group,
                             const std::vector<const ValidationRow*>& rows) {
  ValidationSummary summary;
  summary.by = by;
  summary.group = std::move(group);
  std::vector<ErrorItem> items;
  std::map<std::string, std::vector<ErrorItem>> by_group;
  for (const ValidationRow* row : rows) {
    if (!row->predicted_s) {
      ++summary.refused;
      continue;
    }
    items.push_back(error_item(*row));
    by_group[row->group].push_back(items.back());
  }
  std::vector<ErrorItem> group_items;
  for (const auto& [unused, members] : by_group) group_items.push_back(mean_item(members));
  summary.rows = error_statistics(std::move(items));
  summary.groups = error_statistics(std::move(group_items));
  return summary;
}

}  // namespace

std::span<const RowProperty> row_properties() { return kProperties; }

std::vector<ValidationSummary> summaries(const std::vector<ValidationRow>& rows) {
  std::vector<const ValidationRow*> all;
  all.reserve(rows.size());
  for (const ValidationRow& row : rows) all.push_back(&row);
  std::vector<ValidationSummary> list{summary_of("", "all", all)};
  for (const RowProperty& property : kProperties) {
    std::map<std::string, std::vector<const ValidationRow*>> by_word;
    for (const ValidationRow& row : rows) by_word[property.of(row)].push_back(&row);
    for (const auto& [word, members] : by_word) {
      const std::size_t start = std::min(word.find_first_not_of(' '), word.size());
      list.push_back(summary_of(property.name, word.substr(start), members));
    }
  }
  return list;
}

}  // namespace headway
