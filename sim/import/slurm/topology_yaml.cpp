#include <optional>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/import/line_reader.h"
#include "sim/import/slurm/slurm_fabric.h"

namespace headway {
namespace {

std::string_view unquoted(std::string_view text) {
  const bool has_quotes = text.size() >= 2 && text.front() == text.back() &&
                          (text.front() == '"' || text.front() == '\'');
  return has_quotes ? text.substr(1, text.size() - 2) : text;
}

struct YamlLine {
  std::string_view key;    ///< empty for an element without one: "- 4"
  std::string_view value;  ///< may be empty
};

/// Nothing if it is written in a way that topology.yaml never is.
std::optional<YamlLine> yaml_line(std::string_view line) {
  std::string_view text = without_blanks(line);
  while (text.starts_with("- ")) text = without_blanks(text.substr(2));
  if (text.starts_with('{') || text.starts_with('&') || text.starts_with('*')) return std::nullopt;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return YamlLine{.key = {}, .value = unquoted(text)};
  const std::string_view value = without_blanks(text.substr(colon + 1));
  if (value.starts_with('{') || value.starts_with('|') || value.starts_with('>')) {
    return std::nullopt;
  }
  return YamlLine{.key = unquoted(without_blanks(text.substr(0, colon))), .value = unquoted(value)};
}

}  // namespace

/// Reads the part of YAML that topology.yaml(5) is written in: a key and a value on a line. A
/// topology begins with "topology", a switch with "switch", a block with "block" and a name.
void SlurmReader::read_yaml(LineReader& lines, std::string_view line) {
  bool is_taken = false;   // the topology that is read
  bool has_trees = false;  // of one before it
  bool has_blocks = false;
  enum class Kind { none, tree, block } kind = Kind::none;
  std::string name;
  SlurmSwitch found;
  const auto end_entry = [&] {
    if (!name.empty() && is_taken) {
      kind == Kind::tree ? add_switch(lines, name, std::move(found))
                         : add_block(lines, name, found.nodes);
    }
    name.clear();
    found = {};
  };
  do {
    line = line.substr(0, line.find('#'));
    if (without_blanks(line).empty() || line.starts_with("---") || line.starts_with("..."))
      continue;
    const auto read = yaml_line(line);
    if (!read) {
      fail(lines, "the line is not a key and a value",
           "write one key on a line, as topology.yaml(5) does");
      return;
    }
    const auto& [key, value] = *read;
    if (key == "topology") {
      end_entry();
      has_trees |= kind == Kind::tree;
      has_blocks |= kind == Kind::block;
      kind = Kind::none;
    } else if ((key == "tree" || key == "block") && value.empty()) {
      kind = key == "tree" ? Kind::tree : Kind::block;
      is_taken = kind == Kind::tree ? !has_trees : !has_blocks;
    } else if (key == "switch" || key == "block") {
      end_entry();
      name = std::string(value);
    } else if (key == "nodes" || key == "children") {
      if (!expand(lines, value, key == "nodes" ? found.nodes : found.switches)) return;
    } else if (!key.empty() && key != "switches" && key != "blocks" && key != "block_sizes" &&
               key != "cluster_default" && key != "flat" && key != "link_speed") {
      return fail(lines, in_quotes(key) + " is nothing that topology.yaml knows",
                  "give Slurm's topology.yaml, with trees and blocks as topology.yaml(5) has them");
    }
  } while (lines.next(line));
  end_entry();
}

}  // namespace headway
