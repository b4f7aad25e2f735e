#include "sim/import/xml_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/file_text.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

/// The first element that stands deeper than it may, searched without recursion.
pugi::xml_node too_deep(const pugi::xml_node& root) {
  int depth = 1;
  for (pugi::xml_node at = root; at;) {
    if (depth > XmlFile::kDeepest) return at;
    if (at.first_child()) {
      at = at.first_child();
      ++depth;
      continue;
    }
    while (at && at != root && !at.next_sibling()) {
      at = at.parent();
      --depth;
    }
    if (!at || at == root) break;
    at = at.next_sibling();
  }
  return {};
}

}  // namespace

std::optional<XmlFile> XmlFile::read(const std::string& path, Diagnostics& diagnostics) {
  auto text = file_text(path, diagnostics);
  if (!text) return std::nullopt;
  XmlFile file;
  file.path_ = path;
  file.text_ = std::move(*text);
  for (std::size_t i = file.text_.find('\n'); i != std::string::npos;
       i = file.text_.find('\n', i + 1)) {
    file.line_starts_.push_back(i + 1);
  }
  file.document_ = std::make_unique<pugi::xml_document>();
  const pugi::xml_parse_result result =
      file.document_->load_buffer(file.text_.data(), file.text_.size());
  Diagnostic problem;
  if (!result) {
    problem.message = fmt::format("the file is no XML: {}", result.description());
    problem.location = file.location(result.offset);
  } else if (const pugi::xml_node deep = too_deep(file.root())) {
    problem.message = fmt::format("elements are nested more than {} deep", kDeepest);
    problem.location = file.location(deep.offset_debug());
  } else {
    return file;
  }
  diagnostics.add(std::move(problem));
  return std::nullopt;
}

Diagnostic XmlFile::problem(const pugi::xml_node& element, std::string message,
                            std::string help) const {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.location = location(element.offset_debug());
  problem.help = std::move(help);
  return problem;
}

SourceLocation XmlFile::location(std::ptrdiff_t offset) const {
  SourceLocation location{.file = path_};
  if (offset < 0 || text_.empty()) return location;
  const std::size_t place = std::min(static_cast<std::size_t>(offset), text_.size());
  const auto after = std::ranges::upper_bound(line_starts_, place);
  const std::size_t start = *std::prev(after);
  location.line = static_cast<int>(after - line_starts_.begin());
  location.column = static_cast<int>(place - start) + 1;
  location.length = 1;
  constexpr std::size_t kLongestExcerpt = 200;
  location.line_text =
      printable(text_.substr(start, std::min(text_.find('\n', start) - start, kLongestExcerpt)));
  return location;
}

}  // namespace headway
