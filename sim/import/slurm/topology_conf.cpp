#include <utility>
#include <variant>

#include "sim/base/letter_case.h"
#include "sim/base/utf8.h"
#include "sim/import/slurm/slurm_fabric.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

/// topology.yaml has keys, topology.conf has assignments.
bool is_yaml_line(std::string_view line) {
  return line.starts_with("---") || line.starts_with("- ") ||
         line.find('=') == std::string_view::npos;
}

}  // namespace

SlurmReader::SlurmReader(SlurmFabric& fabric, Diagnostics& diagnostics)
    : fabric_(fabric), diagnostics_(diagnostics), budget_(hostlist_budget()) {}

void SlurmReader::read(const std::string& path) {
  LineReader lines(path, diagnostics_);
  std::string_view line;
  bool is_first = true;
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (is_first && is_yaml_line(line)) return read_yaml(lines, line);
    is_first = false;
    read_conf_line(lines, line);
  }
}

void SlurmReader::read_conf_line(const LineReader& lines, std::string_view line) {
  TextScanner scanner(line);
  std::string name;
  std::string block;
  SlurmSwitch found;
  while (true) {
    scanner.skip_blanks();
    const std::string_view word = scanner.take_word();
    if (word.empty()) break;
    const std::size_t equals = word.find('=');
    const std::string key = lower_case(word.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (key == "switchname") {
      name = std::string(value);
    } else if (key == "blockname") {
      block = std::string(value);
    } else if (key == "nodes" || key == "switches") {
      if (!expand(lines, value, key == "nodes" ? found.nodes : found.switches)) return;
    } else if (key == "linkspeed") {
      fabric_.has_speeds = true;
    } else if (key == "blocksizes") {
      return;  // how many blocks make one larger
    } else {
      return fail(lines, in_quotes(word) + " is nothing that topology.conf knows",
                  "it has SwitchName=, Switches=, Nodes= and LinkSpeed=, or BlockName=, Nodes= and "
                  "BlockSizes=, without blanks around");
    }
  }
  if (!block.empty()) return add_block(lines, block, found.nodes);
  if (name.empty())
    return fail(lines, "the line does not say which switch it is about",
                "a line begins SwitchName=NAME, or BlockName=NAME");
  add_switch(lines, name, std::move(found));
}

void SlurmReader::add_switch(const LineReader& lines, const std::string& name, SlurmSwitch found) {
  if (found.nodes.empty() && found.switches.empty()) {
    return fail(lines, "the switch has neither nodes nor switches below it",
                "write which: Nodes=node[1-8] or Switches=leaf[1-4]");
  }
  found.location = lines.problem("").location;
  if (!fabric_.switches.emplace(name, std::move(found)).second) {
    fail(lines, in_quotes(name) + " is described twice", "keep one of the two lines");
  }
}

void SlurmReader::add_block(const LineReader& lines, const std::string& name,
                            const std::vector<std::string>& nodes) {
  if (nodes.empty()) return fail(lines, "the block has no nodes", "write which: Nodes=node[1-18]");
  for (const std::string& node : nodes) {
    if (fabric_.block_of_node.emplace(node, name).second) continue;
    fail(lines, "the node " + in_quotes(node) + " is in two blocks",
         "leave it in the one whose NVLink it is on");
    return;
  }
}

bool SlurmReader::expand(const LineReader& lines, std::string_view text,
                         std::vector<std::string>& names) {
  auto expanded = expanded_hostlist(text, budget_);
  if (const auto* problem = std::get_if<HostlistProblem>(&expanded)) {
    fail(lines, in_quotes(text) + " " + problem->message, problem->help);
    return false;
  }
  names = std::move(std::get<std::vector<std::string>>(expanded));
  return true;
}

void SlurmReader::fail(const LineReader& lines, std::string message, std::string help) {
  diagnostics_.add(lines.problem(std::move(message), std::move(help)));
}

}  // namespace headway
