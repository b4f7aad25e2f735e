#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// One `--set /json/pointer=value`. The value is JSON where it parses as JSON, else a string
/// (`--set /fabric/bandwidth="400 Gb/s"` and `--set /fabric/bandwidth=400 Gb/s` are the same).
struct Override {
  std::string pointer;
  std::string value_text;
  std::string place = {};        ///< where it stands if not on the command line: "buy.json:12:5"
  std::string option = "--set";  ///< of the command line
};

/// Splits "/a/b=value", which was given to `option`; throws InputError if it does not have that
/// form.
[[nodiscard]] Override parse_override(std::string_view text, std::string option = "--set");

/// A parsed JSON text that knows where each value and key stands. Immutable once read.
///
/// Duplicate keys, values nested too deep and syntax errors are diagnostics with line and column;
/// numbers that JSON allows but a double does not hold are errors too.
class JsonDocument {
 public:
  /// Parses `text`, naming it `name` in messages. Null (with diagnostics) if it is not JSON.
  [[nodiscard]] static std::shared_ptr<const JsonDocument> parse(std::string name, std::string text,
                                                                 Diagnostics& diagnostics);
  /// Reads a file ("-" is standard input). Missing, unreadable, a folder, empty: a diagnostic and
  /// null.
  [[nodiscard]] static std::shared_ptr<const JsonDocument> read(const std::string& path,
                                                                Diagnostics& diagnostics);

  ~JsonDocument();

  [[nodiscard]] const nlohmann::json& root() const;
  [[nodiscard]] const std::string& name() const;

  /// Where the value (or the key) at `pointer` stands; the document as a whole if it is unknown.
  [[nodiscard]] SourceLocation value_location(const std::string& pointer) const;
  [[nodiscard]] SourceLocation key_location(const std::string& pointer) const;

  /// A copy with the values set. Objects on the way are made where missing; an index beyond an
  /// array or a path through a scalar is a diagnostic. The new values' location is the `--set`.
  ///
  /// A document that another one refers to passes the place of that reference as `prefix`
  /// ("/model"): only overrides below it are taken, without it ("/model/layers" sets "/layers").
  [[nodiscard]] std::shared_ptr<const JsonDocument> with(const std::vector<Override>& overrides,
                                                         Diagnostics& diagnostics,
                                                         const std::string& prefix = "") const;
  /// A copy that has also what `base` has and this document has not, object by object. A value
  /// stands where it came from.
  [[nodiscard]] std::shared_ptr<const JsonDocument> over(
      const std::shared_ptr<const JsonDocument>& base) const;
  /// Whether an override set a value of it.
  [[nodiscard]] bool is_changed() const;
  [[nodiscard]] const std::string& pointer_prefix() const;  ///< the `prefix` it was made with

 private:
  struct Content;
  explicit JsonDocument(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

/// A value inside a document: what readers are handed.
class JsonCursor {
 public:
  explicit JsonCursor(std::shared_ptr<const JsonDocument> document, std::string pointer = "");

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }

  // For those that ask no more of the value than this.
  [[nodiscard]] bool is_object() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] std::size_t size() const;  ///< of elements or members; 1 of a scalar, 0 of null
  [[nodiscard]] std::optional<std::string> text() const;  ///< nothing if it is none
  [[nodiscard]] std::optional<double> number() const;     ///< nothing if it is none
  [[nodiscard]] const JsonDocument& document() const { return *document_; }

  /// Member `key` of an object, or nothing.
  [[nodiscard]] std::optional<JsonCursor> member(std::string_view key) const;
  /// Element `index` of an array. Requires index < size.
  [[nodiscard]] JsonCursor element(std::size_t index) const;

  /// A document's root with what that of `base` has besides (JsonDocument::over).
  [[nodiscard]] JsonCursor over(const JsonCursor& base) const;

  /// A diagnostic that points at this value (or at its key).
  [[nodiscard]] Diagnostic problem(std::string message, std::string label = "",
                                   std::string help = "") const;
  [[nodiscard]] Diagnostic key_problem(std::string message, std::string help = "") const;

 private:
  std::shared_ptr<const JsonDocument> document_;
  std::string pointer_;
  const nlohmann::json* value_;
};

}  // namespace headway
