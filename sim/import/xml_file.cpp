#include "sim/import/xml_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/file_text.h"
#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"

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

std::string xml_help(std::string_view content) {
  const std::size_t begin = content.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || content[begin] != '<') {
    return "XML begins with an element: <system>, <graphml>";
  }
  const std::size_t end = content.find_last_not_of(" \t\r\n");
  return content[end] == '>'
             ? "look for an element that is not closed, a tag or a quote that is missing"
             : "perhaps the file was cut off";
}

}  // namespace

std::optional<XmlFile> XmlFile::read(const std::string& path, Diagnostics& diagnostics) {
  auto text = file_text(path, diagnostics);
  if (!text) return std::nullopt;
  XmlFile file(SourceText(path, std::move(*text)));
  const std::string_view content = file.text_.text();
  Diagnostic problem;
  // The parser makes four bytes (<a/>) an element of a hundred.
  const auto values = std::ranges::count_if(content, [](char c) { return c == '<' || c == '='; });
  if (values > limits().values) {
    problem.message = fmt::format("the file has more than {} elements and attributes",
                                  grouped_digits(limits().values));
    problem.location = file.text_.whole();
    problem.help = limit_help(&Limits::values);
    diagnostics.add(std::move(problem));
    return std::nullopt;
  }
  const pugi::xml_parse_result result = file.document_->load_buffer(content.data(), content.size());
  if (!result) {
    problem.message = fmt::format("the file is no XML: {}", result.description());
    problem.location = file.location(result.offset);
    problem.help = xml_help(content);
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
  if (offset < 0 || text_.text().empty()) return text_.whole();
  const auto place = static_cast<std::size_t>(offset);
  return text_.location(place, place + 1);
}

}  // namespace headway
