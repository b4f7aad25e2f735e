#include "sim/import/node_domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "sim/base/pattern.h"
#include "sim/base/utf8.h"
#include "sim/import/line_reader.h"
#include "sim/import/slurm/slurm_fabric.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

using nlohmann::json;

/// Adds a node; false if it is in another domain already.
bool put(NodeDomains& domains, const std::string& node, const std::string& domain) {
  const auto [place, is_new] = domains.emplace(node, domain);
  return is_new || place->second == domain;
}

/// What nvidia-smi tells of a host's NVLink fabric.
struct Clique {
  std::string cluster;
  std::string number;
};

/// "nvl01: CliqueId : 1" into host, key and value; false if it is no such line.
bool is_clique_line(std::string_view line, std::string& host, std::string& key,
                    std::string& value) {
  TextScanner scanner(line);
  scanner.skip_blanks();
  const auto before = scanner.take_to(':');
  if (!before || before->find_first_of(" \t[") != std::string_view::npos) return false;
  scanner.skip_blanks();
  const std::string_view word = scanner.take_word();
  if (word != "CliqueId" && word != "ClusterUUID") return false;
  scanner.skip_blanks();
  if (!scanner.take(":")) return false;
  scanner.skip_blanks();
  host = std::string(*before);
  key = std::string(word);
  value = std::string(scanner.take_word());
  return true;
}

bool is_slurm_line(std::string_view line) {
  TextScanner scanner(line);
  scanner.skip_blanks();
  const std::string_view word = scanner.take_word();
  return word.find('=') != std::string_view::npos || word.starts_with("---") || word == "-";
}

/// Lines of cliques, or of hosts and a name.
class DomainReader {
 public:
  DomainReader(NodeDomains& domains, Diagnostics& diagnostics)
      : domains_(domains), diagnostics_(diagnostics) {}

  /// False if it is a file of Slurm's.
  bool read(const std::string& path) {
    LineReader lines(path, diagnostics_);
    std::string_view line;
    while (lines.next(line)) {
      line = line.substr(0, line.find('#'));
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      if (is_slurm_line(line)) return false;
      read_line(lines, line);
    }
    for (const auto& [host, clique] : cliques_) {
      // Without a fabric manager's clique a host is alone.
      const bool is_alone = clique.number.empty() || clique.number == "0" ||
                            clique.number == "N/A" ||
                            clique.cluster.find_first_not_of("0-") == std::string::npos;
      if (!is_alone) put(domains_, host, clique.cluster + "." + clique.number);
    }
    return true;
  }

 private:
  void read_line(const LineReader& lines, std::string_view line) {
    std::string host;
    std::string key;
    std::string value;
    if (is_clique_line(line, host, key, value)) {
      Clique& clique = cliques_[host];
      std::string& known = key == "CliqueId" ? clique.number : clique.cluster;
      if (known.empty()) known = value;
      if (known != value) {
        diagnostics_.add(lines.problem(
            fmt::format("the accelerators of {} are in two cliques", in_quotes(host))));
      }
      return;
    }
    TextScanner scanner(line);
    scanner.skip_blanks();
    const std::string_view list = scanner.take_word();
    scanner.skip_blanks();
    const std::string_view domain = scanner.take_word();
    auto names = expanded_hostlist(list, budget_);
    if (const auto* problem = std::get_if<HostlistProblem>(&names)) {
      diagnostics_.add(lines.problem(in_quotes(list) + " " + problem->message, problem->help));
      return;
    }
    if (domain.empty()) {
      diagnostics_.add(lines.problem("a line is a list of hosts and the name of their domain",
                                     "such as nvl[01-18] rack1"));
      return;
    }
    for (const std::string& node : std::get<std::vector<std::string>>(names)) {
      if (put(domains_, node, printable(domain))) continue;
      diagnostics_.add(lines.problem("the node " + in_quotes(node) + " is in two domains"));
      return;
    }
  }

  NodeDomains& domains_;
  Diagnostics& diagnostics_;
  HostlistBudget budget_ = hostlist_budget();
  std::map<std::string, Clique> cliques_;
};

void warn(Diagnostics& diagnostics, std::string message) {
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.message = std::move(message);
  diagnostics.add(std::move(warning));
}

/// An assumed node type, which knows of no domain, gets room for `nodes`.
void make_room(json& node, std::int64_t nodes, Diagnostics& diagnostics) {
  if (!node.is_object() || nodes < 2) return;
  json& scale_up = node["scale_up"];
  if (scale_up.is_object() && scale_up.contains("domain")) return;
  if (!scale_up.is_object()) scale_up = {{"bandwidth", node.at("nics").at("bandwidth")}};
  scale_up["domain"] = nodes * node.value("accelerators", std::int64_t{1});
  warn(diagnostics,
       "nodes of one domain are taken to reach each other without a NIC, at the NIC's bandwidth; "
       "--node names a type that knows better");
}

}  // namespace

NodeDomains read_domains(const std::vector<std::string>& paths, Diagnostics& diagnostics) {
  NodeDomains domains;
  for (const std::string& path : paths) {
    if (DomainReader(domains, diagnostics).read(path)) continue;
    SlurmFabric fabric;
    SlurmReader(fabric, diagnostics).read(path);
    for (const auto& [node, block] : fabric.block_of_node) put(domains, node, block);
  }
  return domains;
}

void apply_domains(const NodeDomains& domains, json& topology, Diagnostics& diagnostics) {
  if (domains.empty() || !topology.is_object()) return;
  std::map<std::string, std::set<std::string>> nodes_of_domain;
  std::set<std::string> used;
  std::set<std::string> without;
  for (json& endpoint : topology.at("fabric").at("endpoints")) {
    if (!endpoint.contains("node")) continue;
    const std::string node = endpoint.at("node").get<std::string>();
    const auto known = domains.find(node);
    if (known == domains.end()) {
      without.insert(node);
      continue;
    }
    endpoint["scale_up_domain"] = known->second;
    nodes_of_domain[known->second].insert(node);
    used.insert(node);
  }
  if (used.size() < domains.size()) {
    warn(diagnostics, fmt::format("nodes with a domain that are not in the fabric: {}",
                                  domains.size() - used.size()));
  }
  if (!without.empty()) {
    warn(diagnostics,
         fmt::format("nodes of which no domain is told, each of which is one: {}", without.size()));
  }
  std::size_t largest = 0;
  for (const auto& [domain, nodes] : nodes_of_domain) largest = std::max(largest, nodes.size());
  make_room(topology.at("node"), static_cast<std::int64_t>(largest), diagnostics);
}

NodeDomains domains_by_pattern(const std::string& pattern, const json& topology,
                               Diagnostics& diagnostics) {
  NodeDomains domains;
  std::optional<Pattern> expression;
  try {
    expression.emplace(pattern);
  } catch (const std::invalid_argument&) {
    expression.reset();
  }
  if (!expression || expression->group_count() == 0) {
    Diagnostic problem;
    problem.message = fmt::format("{} is no pattern with a group", in_quotes(pattern));
    problem.help =
        "such as \"(rack[0-9]+)\": what the group matches names the domain; it may not refer back "
        "to it";
    diagnostics.add(std::move(problem));
    return domains;
  }
  const auto matched = [&](const std::string& name) {
    const auto match = expression->first_in(name);
    return match ? std::string(match->at(1)) : std::string();
  };
  const json& fabric = topology.at("fabric");
  std::map<std::string, std::string> node_of_endpoint;
  for (const json& endpoint : fabric.at("endpoints")) {
    if (!endpoint.contains("node")) continue;
    const std::string node = endpoint.at("node").get<std::string>();
    node_of_endpoint[endpoint.at("name").get<std::string>()] = node;
    const std::string domain = matched(node);
    if (!domain.empty()) domains.emplace(node, domain);
  }
  const bool by_name = !domains.empty();
  for (const json& cable : fabric.at("cables")) {
    const std::string from = cable.at("from").get<std::string>();
    const std::string to = cable.at("to").get<std::string>();
    const auto node = node_of_endpoint.find(node_of_endpoint.contains(from) ? from : to);
    if (by_name || node == node_of_endpoint.end()) continue;
    const std::string domain = matched(node->first == from ? to : from);
    if (domain.empty() || put(domains, node->second, domain)) continue;
    Diagnostic problem;
    problem.message = fmt::format("{} is cabled to leaf switches of two domains, {} and {}",
                                  in_quotes(node->second), in_quotes(domains.at(node->second)),
                                  in_quotes(domain));
    problem.help = "the group has to match what they have in common, such as the rack";
    diagnostics.add(std::move(problem));
    return {};
  }
  if (domains.empty()) {
    Diagnostic problem;
    problem.message =
        fmt::format("{} matches the name of no node and of no leaf switch", in_quotes(pattern));
    problem.help = "its group has to match some of the name, such as \"(rack[0-9]+)\" of rack7-n3";
    diagnostics.add(std::move(problem));
  }
  return domains;
}

}  // namespace headway
