#pragma once

#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <utility>

#include "sim/base/source_text.h"

namespace headway {

/// An XML file that knows where its elements stand.
class XmlFile {
 public:
  /// Nothing, with line and reason, if the file is no XML, is nested deeper than kDeepest or has
  /// more elements and attributes than a document may have values.
  [[nodiscard]] static std::optional<XmlFile> read(const std::string& path,
                                                   Diagnostics& diagnostics);

  [[nodiscard]] pugi::xml_node root() const { return document_->document_element(); }
  /// A problem of an element.
  [[nodiscard]] Diagnostic problem(const pugi::xml_node& element, std::string message,
                                   std::string help = "") const;

  static constexpr int kDeepest = 64;

 private:
  explicit XmlFile(SourceText text) : text_(std::move(text)) {}
  [[nodiscard]] SourceLocation location(std::ptrdiff_t offset) const;

  SourceText text_;
  std::unique_ptr<pugi::xml_document> document_ = std::make_unique<pugi::xml_document>();
};

}  // namespace headway
