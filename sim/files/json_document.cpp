#include "sim/files/json_document.h"

#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/file_text.h"
#include "sim/base/source_text.h"
#include "sim/files/json_override.h"
#include "sim/files/json_parse.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_positions.h"

namespace headway {

/// The text and its positions are shared with the copies that `with` makes.
struct JsonDocument::Content {
  class Source {
   public:
    explicit Source(SourceText source_text) : text(std::move(source_text)) {}
    const SourceText text;

    [[nodiscard]] const JsonPositions& positions() const {
      std::call_once(scanned_,
                     [this] { positions_ = std::make_unique<JsonPositions>(text.text()); });
      return *positions_;
    }

   private:
    mutable std::once_flag scanned_;
    mutable std::unique_ptr<const JsonPositions> positions_;
  };

  std::shared_ptr<const Source> source;
  std::shared_ptr<const nlohmann::json> root;  ///< copied when an override changes it
  std::string prefix;
  std::vector<AppliedOverride> applied;
  std::shared_ptr<const JsonDocument> base;  ///< what gives the rest; null if nothing does

  /// The override that last set the value at `pointer`, or a value around it or, if the text does
  /// not have it, in it.
  [[nodiscard]] const AppliedOverride* override_of(const std::string& pointer) const {
    for (auto override = applied.rbegin(); override != applied.rend(); ++override) {
      if (is_at_or_below(pointer, override->pointer)) return &*override;
    }
    if (applied.empty() || source->positions().find(pointer)) return nullptr;
    for (const AppliedOverride& override : applied) {
      if (is_at_or_below(override.pointer, pointer)) return &override;
    }
    return nullptr;
  }
  [[nodiscard]] bool has_of_base(const std::string& pointer) const {
    return base != nullptr && base->root().contains(nlohmann::json::json_pointer(pointer));
  }
};

namespace {

/// What `base` has and `value` has not, added to it.
void fill_in(nlohmann::json& value, const nlohmann::json& base) {
  if (!value.is_object() || !base.is_object()) return;
  for (const auto& [key, of_base] : base.items()) {
    const auto found = value.find(key);
    if (found == value.end()) {
      value[key] = of_base;
    } else {
      fill_in(*found, of_base);
    }
  }
}

}  // namespace

JsonDocument::JsonDocument(std::unique_ptr<Content> content) : content_(std::move(content)) {}
JsonDocument::~JsonDocument() = default;

std::shared_ptr<const JsonDocument> JsonDocument::parse(std::string name, std::string text,
                                                        Diagnostics& diagnostics) {
  auto source =
      std::make_shared<const Content::Source>(SourceText(std::move(name), std::move(text)));
  auto root = parse_json(source->text, diagnostics);
  if (!root) return nullptr;
  auto content = std::make_unique<Content>();
  content->source = std::move(source);
  content->root = std::make_shared<const nlohmann::json>(std::move(*root));
  return std::shared_ptr<const JsonDocument>(new JsonDocument(std::move(content)));
}

std::shared_ptr<const JsonDocument> JsonDocument::read(const std::string& path,
                                                       Diagnostics& diagnostics) {
  auto text = file_text(path, diagnostics);
  if (!text) return nullptr;
  return parse(path, std::move(*text), diagnostics);
}

const nlohmann::json& JsonDocument::root() const { return *content_->root; }
const std::string& JsonDocument::name() const { return content_->source->text.name(); }
bool JsonDocument::is_changed() const { return !content_->applied.empty(); }
const std::string& JsonDocument::pointer_prefix() const { return content_->prefix; }

SourceLocation JsonDocument::value_location(const std::string& pointer) const {
  if (const auto* override = content_->override_of(pointer)) return {.file = override->shown};
  const auto entry = content_->source->positions().find(pointer);
  if (!entry && content_->has_of_base(pointer)) return content_->base->value_location(pointer);
  if (!entry) return content_->source->text.whole();
  return content_->source->text.location(entry->value.begin, entry->value.end);
}

SourceLocation JsonDocument::key_location(const std::string& pointer) const {
  const auto entry = content_->source->positions().find(pointer);
  if (!entry && content_->has_of_base(pointer)) return content_->base->key_location(pointer);
  if (!entry) return value_location(pointer);
  const auto span = entry->key.end > entry->key.begin ? entry->key : entry->value;
  return content_->source->text.location(span.begin, span.end);
}

std::shared_ptr<const JsonDocument> JsonDocument::with(const std::vector<Override>& overrides,
                                                       Diagnostics& diagnostics,
                                                       const std::string& prefix) const {
  auto content = std::make_unique<Content>(*content_);
  content->prefix = prefix;
  std::shared_ptr<nlohmann::json> changed;
  for (const Override& override : overrides) {
    const bool is_below =
        override.pointer.size() > prefix.size() && is_at_or_below(override.pointer, prefix);
    if (!is_below) continue;
    if (!changed) changed = std::make_shared<nlohmann::json>(*content->root);
    const std::string pointer = override.pointer.substr(prefix.size());
    if (auto applied = apply_override(*changed, pointer, override, diagnostics)) {
      content->applied.push_back(std::move(*applied));
    }
  }
  if (changed) content->root = std::move(changed);
  return std::shared_ptr<const JsonDocument>(new JsonDocument(std::move(content)));
}

std::shared_ptr<const JsonDocument> JsonDocument::over(
    const std::shared_ptr<const JsonDocument>& base) const {
  auto content = std::make_unique<Content>(*content_);
  auto whole = std::make_shared<nlohmann::json>(*content->root);
  fill_in(*whole, base->root());
  content->root = std::move(whole);
  content->base = base;
  return std::shared_ptr<const JsonDocument>(new JsonDocument(std::move(content)));
}

}  // namespace headway
