#include "sim/validate/published_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/input_files.h"
#include "sim/validate/published_row_fields.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/unread_row_fields.h"

namespace headway {
namespace {

/// What sort of training it is: errors are told apart by it.
std::string kind_of(const nlohmann::json& model, const nlohmann::json& train) {
  std::string task = word(train, "task");
  if (task != "pretrain") return task;
  return is_given(model, "moe") ? "moe" : "dense";
}

/// Where a reader finds the source: its own address, or its file in a repository.
std::string address_of(const nlohmann::json& source) {
  std::string url = word(source, "url");
  const std::string repository = word(source, "repo");
  if (!url.empty() || repository.empty()) return url;
  const std::string commit = word(source, "commit");
  return fmt::format("https://github.com/{}/blob/{}/{}", repository,
                     commit.empty() ? "HEAD" : commit, word(source, "path"));
}

/// A source is an object, the key of one, or just a name.
void read_source(PublishedRow& row, const PublishedRowFields& fields, const PublishedTables& tables,
                 Diagnostics& diagnostics) {
  const auto named = fields.member("source");
  if (!named) return;
  const JsonCursor part = tables.entry("sources", *named, diagnostics);
  if (const auto source = part.text()) row.head.source = *source;
  if (!part.is_object()) return;
  row.head.source = word(part.value(), "key");
  row.head.source_title = word(part.value(), "title");
  row.head.source_address = address_of(part.value());
  row.head.source_place = word(part.value(), "line");
  if (row.head.source_place.empty()) row.head.source_place = fields.text("line");
}

PublishedRow read_row(const PublishedRowFields& fields, const PublishedTables& tables,
                      UnreadRowFields& unread, Diagnostics& diagnostics) {
  PublishedRow row;
  const auto model = fields.object("model", "models");
  const auto train = fields.object("train");
  const std::string result = fields.text("result");
  row.ran_out_of_memory = result == "out of memory";
  if (!result.empty() && !row.ran_out_of_memory) {
    diagnostics.add(fields.member("result")->problem("a row's \"result\" is \"out of memory\"", "",
                                                     "leave it out of a row that ran"));
  }
  std::optional<JsonCursor> measured;
  if (fields.row().is_object() && !row.ran_out_of_memory) {
    measured = fields.object("measured");
    if (!measured) return row;
  }
  if (!model || !train) return row;
  unread.look_at("model", *model);
  unread.look_at("train", *train);
  row.model = model->value();
  row.train = tables.train_unless_said();
  row.train->update(train->value());
  for (const char* key :
       {"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "seq"}) {
    static_cast<void>(fields.number(model, key));
  }
  for (const char* key : {"tp", "pp", "dp", "micro_batch", "global_batch"}) {
    static_cast<void>(fields.number(train, key));
  }
  check_whole_numbers(row.model, row.train, {*model, *train}, diagnostics);
  for (const char* key : {"recompute", "precision", "task", "fsdp"}) {
    if (word(row.train, key).empty()) {
      diagnostics.add(
          train->problem(fmt::format("a row needs \"{}\", a text", key), "", kHelpOfRows));
    }
  }
  row.head.id = fields.text("id");
  row.head.group = fields.text("group");
  row.head.framework = fields.text("framework");
  row.head.accelerator = fields.text("gpu");
  row.head.precision = word(row.train, "precision");
  row.head.kind = kind_of(row.model, row.train);
  row.head.accelerators = fields.count("gpus");
  if (!row.ran_out_of_memory) {
    row.head.published_s = fields.number(measured, "iteration_time_s");
  }
  row.head.defaults_used = fields.texts("defaults_used", "remarks");
  row.nvlink_domain = fields.count("nvlink_domain");
  row.nic_gigabytes_per_second = fields.number(std::nullopt, "nic_GBps_per_gpu");
  row.release = fields.text("release");
  read_source(row, fields, tables, diagnostics);
  if (row.head.id.empty())
    diagnostics.add(fields.row().problem("a row needs \"id\", a text", "", kHelpOfRows));
  if (row.head.group.empty()) row.head.group = row.head.id;
  return row;
}

}  // namespace

std::vector<PublishedRow> read_published_steps(const JsonCursor& root, Diagnostics& diagnostics) {
  const auto list = root.is_object() ? root.member("rows") : std::nullopt;
  if (!list || !list->is_array()) {
    diagnostics.add(root.problem("this is no file of published rows", "",
                                 R"(it needs {"rows": [...]}, one object a measurement)"));
    return {};
  }
  if (list->value().empty()) {
    diagnostics.add(list->problem("the file has no rows", "", kHelpOfRows));
    return {};
  }
  const PublishedTables tables(root);
  std::vector<PublishedRow> rows;
  UnreadRowFields unread;
  for (std::size_t i = 0; i < list->value().size(); ++i) {
    rows.push_back(read_row(PublishedRowFields(list->element(i), tables, diagnostics), tables,
                            unread, diagnostics));
  }
  unread.warn(diagnostics);
  return rows;
}

std::vector<PublishedRow> asked_rows(const std::vector<std::string>& paths,
                                     const ValidationFilter& filter, Diagnostics& diagnostics) {
  InputFiles files({}, data_folders(), diagnostics);
  std::vector<PublishedRow> all;
  for (const std::string& path : paths) {
    const auto root = files.open(path, "scenarios");
    diagnostics.throw_if_errors();
    std::vector<PublishedRow> rows = read_published_steps(*root, diagnostics);
    diagnostics.throw_if_errors();
    std::ranges::move(rows, std::back_inserter(all));
  }
  std::vector<ValidationRow> heads;
  heads.reserve(all.size());
  for (const PublishedRow& row : all) heads.push_back(row.head);
  check_filter(filter, heads);
  std::erase_if(all, [&](const PublishedRow& row) { return !is_kept(row.head, filter); });
  return all;
}

}  // namespace headway
