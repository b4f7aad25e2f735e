#include "sim/files/input_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/file_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_override.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_text.h"
#include "sim/files/json_value_text.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

/// What a file may refer to: opening a pipe or a terminal that it names could wait for ever.
bool may_be_named(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_override(const JsonCursor& part) {
  return part.document().value_location(part.pointer()).file.starts_with("--");
}

bool is_below(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path from = fs::weakly_canonical(folder.empty() ? fs::path(".") : folder, error);
  const fs::path rest = fs::weakly_canonical(path, error).lexically_relative(from);
  return !error && !rest.empty() && *rest.begin() != "..";
}

/// The first of NAME, FOLDER/NAME and FOLDER/NAME.json that a data folder has.
std::optional<std::string> in_data_folders(const std::vector<fs::path>& data_folders,
                                           const std::vector<std::string>& folders,
                                           const std::string& name) {
  for (const fs::path& data : data_folders) {
    for (const std::string& folder : folders) {
      for (const fs::path& path : {data / folder / name, data / folder / (name + ".json")}) {
        if (may_be_named(path)) return path.lexically_normal().string();
      }
    }
    if (may_be_named(data / name)) return (data / name).lexically_normal().string();
  }
  return std::nullopt;
}

/// The names of a single folder include those in folders below it; several have each their own.
std::vector<std::string> known_names(const std::vector<fs::path>& data_folders,
                                     const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const fs::path& data : data_folders) {
    for (const std::string& folder : folders) {
      for (std::string& name : json_files_below(data / folder)) {
        const bool is_elsewhere = folders.size() > 1 && name.find('/') != std::string::npos;
        if (!is_elsewhere && std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(std::move(name));
      }
    }
  }
  // Folders below hold parts of what stands in this one: they come last where a list is cut.
  std::ranges::stable_partition(
      names, [](const std::string& name) { return name.find('/') == std::string::npos; });
  return names;
}

/// Whether the path leads through a text: it may be the name of a file that the rest leads into.
bool leads_through_text(const nlohmann::json& root, const std::string& pointer) {
  const nlohmann::json* value = &root;
  for (const std::string& token : pointer_tokens(pointer)) {
    if (value->is_string()) return true;
    if (value->is_object() && value->contains(token)) {
      value = &(*value)[token];
    } else if (value->is_array() && token.size() < 9 &&
               token.find_first_not_of("0123456789") == std::string::npos && !token.empty() &&
               std::stoul(token) < value->size()) {
      value = &(*value)[std::stoul(token)];
    } else {
      return false;
    }
  }
  return false;
}

}  // namespace

InputFiles::InputFiles(std::vector<Override> overrides, std::vector<fs::path> data_folders,
                       Diagnostics& diagnostics, std::shared_ptr<ReadMemory> memory)
    : overrides_(std::move(overrides)),
      used_(overrides_.size(), false),
      data_folders_(std::move(data_folders)),
      diagnostics_(diagnostics),
      memory_(memory ? std::move(memory) : std::make_shared<ReadMemory>()) {}

std::optional<JsonCursor> InputFiles::open(const std::string& path, const std::string& folder) {
  return open(path, std::vector{folder});
}

std::optional<JsonCursor> InputFiles::open(const std::string& path,
                                           const std::vector<std::string>& folders) {
  std::error_code error;
  if (path == "-" || HeldFile::is_held(path) || fs::exists(path, error)) return load(path, "");
  if (const auto found = in_data_folders(data_folders_, folders, path)) return load(*found, "");

  Diagnostics problems;
  if (JsonDocument::read(path, problems) != nullptr) return load(path, "");  // it appeared just now
  Diagnostic problem = problems.all().front();
  // Who writes an ending means a file of their own, and not one of those that ship.
  const bool is_own = fs::path(path).extension() == ".json";
  const std::string help = name_help(is_own ? fs::path(path).stem().string() : path,
                                     known_names(data_folders_, folders));
  if ((problem.help.empty() && !is_own) || help.starts_with("did you mean")) problem.help = help;
  diagnostics_.add(std::move(problem));
  return std::nullopt;
}

std::optional<JsonCursor> InputFiles::follow(const JsonCursor& part, const std::string& folder) {
  return follow(part, std::vector{folder});
}

std::optional<JsonCursor> InputFiles::follow(const JsonCursor& part,
                                             const std::vector<std::string>& folders) {
  if (part.is_object()) return part;
  if (!part.value().is_string()) {
    diagnostics_.add(part.problem(value_name(part.document().root(), part.pointer()) +
                                      " must be an object or the name of a file",
                                  kind_text(part.value()),
                                  "write it in place, in braces, or the path of a file in quotes, "
                                  "or a name that `headway list` shows"));
    return std::nullopt;
  }
  const auto path = found(part, folders);
  if (!path) return std::nullopt;
  return load(*path, part.document().pointer_prefix() + part.pointer());
}

std::optional<SourceText> InputFiles::follow_text(const JsonCursor& part,
                                                  const std::string& folder) {
  if (!part.value().is_string()) {
    diagnostics_.add(part.problem(
        value_name(part.document().root(), part.pointer()) + " must be the name of a file",
        kind_text(part.value()), "write its path in quotes"));
    return std::nullopt;
  }
  const auto path = found(part, {folder});
  if (!path) return std::nullopt;
  auto text = file_text(*path, diagnostics_);
  if (!text) return std::nullopt;
  read_paths_.emplace_back(*path);
  return SourceText(*path, std::move(*text));
}

std::any InputFiles::once(const JsonCursor& part, const std::string& given,
                          const std::function<std::any()>& read) {
  const std::string pointer = part.document().pointer_prefix() + part.pointer();
  std::vector<std::size_t> concerning;  // overrides in it, and those that made it what it is
  // What is no UTF-8 can only come from an override, whose own text is in the key too.
  const std::string text = compact_json(part.value());
  std::string key = fmt::format("{}\n{}\n{}", given, part.document().name(), text);
  for (std::size_t i = 0; i < overrides_.size(); ++i) {
    const std::string& changed = overrides_[i].pointer;
    if (!is_at_or_below(changed, pointer) && !is_at_or_below(pointer, changed)) continue;
    concerning.push_back(i);
    key += fmt::format("\n{}={}", changed, overrides_[i].value_text);
  }
  if (const ReadMemory::Part* known = memory_->part(pointer, key)) {
    read_paths_.insert(read_paths_.end(), known->read_paths.begin(), known->read_paths.end());
    for (std::size_t i = 0; i < concerning.size(); ++i) {
      if (known->used_overrides[i]) used_[concerning[i]] = true;
    }
    return known->value;
  }
  const std::size_t told_before = diagnostics_.all().size();
  const auto paths_before = static_cast<std::ptrdiff_t>(read_paths_.size());
  std::any value = read();
  if (value.has_value() && diagnostics_.all().size() == told_before) {
    ReadMemory::Part made{.key = std::move(key), .value = value};
    made.read_paths.assign(read_paths_.begin() + paths_before, read_paths_.end());
    for (const std::size_t i : concerning) made.used_overrides.push_back(used_[i]);
    memory_->remember(pointer, std::move(made));
  }
  return value;
}

/// Who runs a stranger's scenario hears which of their own files it reads.
void InputFiles::tell_if_it_left(const JsonCursor& part, const std::string& path) {
  const fs::path from(part.document().name());
  if (!is_file(from) || is_override(part) || is_below(path, from.parent_path())) return;
  if (std::ranges::find(read_paths_, fs::path(path)) != read_paths_.end()) return;
  const auto holds = [&](const fs::path& folder) { return is_below(path, folder); };
  if (std::ranges::any_of(data_folders_, holds)) return;
  Diagnostic warning =
      part.problem("this file stands outside of the folder of the one that names it", "",
                   "if you did not write this yourself, look at what it names");
  warning.severity = Severity::warning;
  diagnostics_.add(std::move(warning));
}

void InputFiles::report_unused_overrides() {
  for (std::size_t i = 0; i < overrides_.size(); ++i) {
    if (used_[i]) continue;
    diagnostics_.add({.message = "the override leads into a text that names no file",
                      .location = {.file = shown_override(overrides_[i])}});
  }
}

std::optional<std::string> InputFiles::found(const JsonCursor& part,
                                             const std::vector<std::string>& folders) {
  auto path = resolve(part, folders);
  if (path) {
    tell_if_it_left(part, *path);
    return path;
  }
  const std::string& name = part.value().get_ref<const std::string&>();
  diagnostics_.add(part.problem(fmt::format("cannot find {}", in_quotes(name)), "",
                                name_help(name, known_names(data_folders_, folders))));
  return std::nullopt;
}

std::optional<std::string> InputFiles::resolve(const JsonCursor& part,
                                               const std::vector<std::string>& folders) const {
  const std::string& name = part.value().get_ref<const std::string&>();
  if (name.empty()) return std::nullopt;
  // A name given on the command line is meant from where the command runs.
  if (is_override(part) && is_file(name)) return name;
  const fs::path beside = fs::path(part.document().name()).parent_path() / name;
  if (may_be_named(beside)) return beside.lexically_normal().string();
  if (auto shipped = in_data_folders(data_folders_, folders, name)) return shipped;
  // Last: a scenario "llama3_8b.json" may name the model that ships under the same name.
  if (is_override(part) && is_file(name + ".json")) return name + ".json";
  if (const fs::path json = beside.string() + ".json"; may_be_named(json)) {
    return json.lexically_normal().string();
  }
  return std::nullopt;
}

std::optional<JsonCursor> InputFiles::load(const std::string& path,
                                           const std::string& pointer_prefix) {
  auto document = memory_->document(path, diagnostics_);
  if (!document) return std::nullopt;
  read_paths_.emplace_back(path);
  // One by one, as an earlier override may replace the text that a later one leads through.
  document = document->with({}, diagnostics_, pointer_prefix);
  for (std::size_t i = 0; i < overrides_.size(); ++i) {
    const std::string& pointer = overrides_[i].pointer;
    if (pointer.size() <= pointer_prefix.size() || !is_at_or_below(pointer, pointer_prefix))
      continue;
    if (leads_through_text(document->root(), pointer.substr(pointer_prefix.size()))) continue;
    used_[i] = true;
    document = document->with({overrides_[i]}, diagnostics_, pointer_prefix);
  }
  return JsonCursor(std::move(document));
}

}  // namespace headway
