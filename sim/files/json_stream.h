#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <string_view>

namespace headway {

/// Writes a document as `json_document_text` has it, piece by piece, for those that are too long to
/// hold: an object with values, objects and lists in it. Members come in the order of their names.
class JsonStream {
 public:
  /// The stream outlives this.
  explicit JsonStream(std::ostream& out) : out_(out) { open('{'); }

  void member(std::string_view name, const nlohmann::json& value);
  void begin_object(std::string_view name);
  void begin_list(std::string_view name);
  /// Adds an element to the list that was begun last.
  void element(const nlohmann::json& value);
  /// Ends what was begun last.
  void end();
  /// The end of the document.
  void finish();

 private:
  void open(char bracket);
  /// A line for what comes next.
  void next();
  void write(const nlohmann::json& value);

  std::ostream& out_;
  std::string closing_;   ///< brackets of what was begun
  bool is_empty_ = true;  ///< what was begun last
};

}  // namespace headway
