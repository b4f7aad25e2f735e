#include "sim/files/kinds/file_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

struct FileKind {
  std::string_view name;   ///< between "headway/" and the version
  std::string_view words;  ///< empty: the name with an article
  std::string_view use;
};

constexpr FileKind kKinds[] = {
    {"scenario", "", "`headway simulate` reads it"},
    {"topology", "", R"(a scenario names it: "cluster": {"topology": "FILE"})"},
    {"node", "a node type", R"(a topology names it: "node": "FILE")"},
    {"profile", "", "give it as --profile FILE, or name it in a scenario: \"profile\": \"FILE\""},
    {"model", "", R"(a scenario names it: "model": "FILE")"},
    {"strategy", "", R"(a scenario names it: "strategy": "FILE")"},
    {"software", "a description of software", R"(a profile names it: "software": "FILE")"},
    {"kernels", "a table of kernels", R"(a profile names it: "kernels": "FILE")"},
    {"framework", "", R"(a scenario names those that ship: "strategy": {"preset": "nemo"})"},
    {"result", "", "`headway report` shows it, `headway compare` compares it with another"},
    {"measurements", "a file of measurements",
     "`headway-calibrate --from FILE` makes a profile of it"},
    {"measured", "a file of measured steps",
     "`headway validate --measured FILE --profile PROFILE` compares them with predictions"},
    {"steps", "a list of steps to run", "`headway-calibrate --steps FILE` runs them"},
    {"collective-sweeps", "a file of published collectives", ""},
    {"sweep", "the result of a sweep", "give the folder of its store: headway report DIR"},
};

/// "topology" of "headway/topology/1"; nothing for what is not of ours.
std::string_view kind_name(std::string_view schema) {
  constexpr std::string_view kOurs = "headway/";
  if (!schema.starts_with(kOurs)) return {};
  schema.remove_prefix(kOurs.size());
  return schema.substr(0, schema.find('/'));
}

const FileKind* kind_of(std::string_view schema) {
  const auto* const found = std::ranges::find(kKinds, kind_name(schema), &FileKind::name);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

std::string file_kind_words(std::string_view schema) {
  const FileKind* const kind = kind_of(schema);
  if (kind != nullptr && !kind->words.empty()) return std::string(kind->words);
  const std::string_view name = kind_name(schema);
  return name.empty() ? std::string() : fmt::format("a {}", name);
}

std::string_view file_kind_use(std::string_view schema) {
  const FileKind* const kind = kind_of(schema);
  return kind == nullptr ? std::string_view() : kind->use;
}

bool are_of_one_kind(std::string_view schema, std::string_view other) {
  return kind_name(schema) == kind_name(other);
}

}  // namespace headway
