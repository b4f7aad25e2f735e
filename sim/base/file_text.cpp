#include "sim/base/file_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>
#include <utility>

#include "sim/base/join_words.h"
#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFilesListed = 10'000;  ///< enough for suggestions anywhere
constexpr std::size_t kMostNamesShown = 12;

std::map<std::string, std::string>& held_files() {
  static std::map<std::string, std::string> files;
  return files;
}

std::size_t largest_file() { return static_cast<std::size_t>(limits().file_bytes); }

/// Ends soon after there is more of it than may be; nothing if reading fails.
std::optional<std::string> text_of(std::istream& stream) {
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (stream && text.size() <= largest_file()) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return std::nullopt;
  return text;
}

std::string missing_file_help(const fs::path& path) {
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    return fmt::format("there is no folder {}", in_quotes(folder.string()));
  }
  std::vector<std::string> names;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    if (names.size() == kMostFilesListed) break;
    names.push_back(file->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const auto meant = closest(path.filename().string(), {names.begin(), names.end()});
  // That both end in .json does not make them alike.
  const bool is_alike =
      meant && (fs::path(*meant).extension() != path.extension() ||
                closest(path.stem().string(), {fs::path(*meant).stem().string()}));
  if (!is_alike) {
    // A name without an ending may be of the library, which tells what it has.
    if (!path.has_extension()) return "";
    return "no name there is like it; `headway list` shows what comes with Headway";
  }
  const fs::path suggestion = path.has_parent_path() ? folder / *meant : fs::path(*meant);
  return fmt::format("did you mean {}?", in_quotes(suggestion.string()));
}

}  // namespace

HeldFile::HeldFile(std::string name, std::string text) {
  const auto [place, is_new] = held_files().emplace(std::move(name), std::move(text));
  HEADWAY_CHECK(is_new, "a name is held twice");
  place_ = place;
}

HeldFile::~HeldFile() { held_files().erase(place_); }

bool HeldFile::is_held(const std::string& name) { return held_files().contains(name); }

std::optional<std::string> file_text(const std::string& path, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string message, std::string help) {
    diagnostics.add(
        {.message = std::move(message), .location = {.file = path}, .help = std::move(help)});
    return std::nullopt;
  };
  const auto whole_text = [&](std::istream& stream,
                              const std::string& name) -> std::optional<std::string> {
    auto text = text_of(stream);
    if (!text) return refuse(fmt::format("{} cannot be read", name), "");
    if (text->size() <= largest_file()) return text;
    return refuse(fmt::format("{} is larger than {}", name,
                              short_text(Bytes(static_cast<double>(limits().file_bytes)))),
                  limit_help(&Limits::file_bytes));
  };
  if (path == "-") return whole_text(std::cin, "standard input");
  if (const auto held = held_files().find(path); held != held_files().end()) {
    std::istringstream stream(held->second);
    return whole_text(stream, in_quotes(path));
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return refuse(fmt::format("there is no file {}", in_quotes(path)), missing_file_help(path));
  }
  if (fs::is_directory(status)) {
    return refuse(fmt::format("{} is a folder, not a file", in_quotes(path)),
                  "name one of the .json files in it");
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    const std::string reason = errno == 0 ? error.message() : std::strerror(errno);
    return refuse(fmt::format("cannot read {}: {}", in_quotes(path), reason), "");
  }
  return whole_text(stream, in_quotes(path));
}

std::vector<std::string> json_files_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator file(folder, options, error), end; !error && file != end;
       file.increment(error)) {
    if (names.size() == kMostFilesListed) break;
    if (file->path().extension() != ".json") continue;
    names.push_back(file->path().lexically_relative(folder).replace_extension().generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string name_help(std::string_view name, const std::vector<std::string>& names) {
  std::string meant = meant_text(name, {names.begin(), names.end()});
  if (!meant.empty()) return meant;
  if (names.empty()) return "";
  if (names.size() <= kMostNamesShown) return fmt::format("there are {}", join_words(names, ", "));
  return fmt::format("there are {}, ...",
                     join_words(std::span(names).first(kMostNamesShown), ", "));
}

}  // namespace headway
