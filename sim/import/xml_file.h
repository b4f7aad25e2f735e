#pragma once

#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// An XML file that knows where its elements stand.
class XmlFile {
 public:
  /// Nothing, with line and reason, if the file is no XML or is nested deeper than kDeepest.
  [[nodiscard]] static std::optional<XmlFile> read(const std::string& path,
                                                   Diagnostics& diagnostics);

  [[nodiscard]] pugi::xml_node root() const { return document_->document_element(); }
  /// A problem of an element.
  [[nodiscard]] Diagnostic problem(const pugi::xml_node& element, std::string message,
                                   std::string help = "") const;

  static constexpr int kDeepest = 64;

 private:
  [[nodiscard]] SourceLocation location(std::ptrdiff_t offset) const;

  std::string path_;
  std::string text_;
  std::vector<std::size_t> line_starts_{0};
  std::unique_ptr<pugi::xml_document> document_;
};

}  // namespace headway
