#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "sim/base/limits.h"
#include "sim/base/utf8.h"
#include "sim/import/hostlist.h"
#include "sim/import/import_draft.h"
#include "sim/import/line_reader.h"
#include "sim/import/text_scanner.h"

namespace headway {

Importer import_slurm;

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Names of hosts are short: 64 characters each on average.
HostlistBudget hostlist_budget() {
  const auto hosts = static_cast<std::size_t>(limits().hosts);
  return {.hosts = hosts, .characters = 64 * hosts};
}

/// A switch of topology.conf, with what is listed below it.
struct SlurmSwitch {
  std::vector<std::string> switches;
  std::vector<std::string> nodes;
  SourceLocation location;
  int vertex = -1;
  std::string parent;     ///< empty for the root
  std::size_t hosts = 0;  ///< below it, on all tiers
  int height = 1;  ///< tiers of switches from it down, itself included, along its first child
  bool is_counted = false;
};

class SlurmReader {
 public:
  explicit SlurmReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void read(const std::string& path) {
    LineReader lines(path, diagnostics_);
    std::string_view line;
    while (lines.next(line)) read_line(lines, line.substr(0, line.find('#')));
  }

  [[nodiscard]] std::map<std::string, SlurmSwitch>& switches() { return switches_; }
  [[nodiscard]] bool has_speeds() const { return has_speeds_; }

 private:
  void read_line(const LineReader& lines, std::string_view line) {
    TextScanner scanner(line);
    std::string name;
    SlurmSwitch found;
    bool is_empty = true;
    while (true) {
      scanner.skip_blanks();
      const std::string_view word = scanner.take_word();
      if (word.empty()) break;
      is_empty = false;
      const std::size_t equals = word.find('=');
      const std::string key = lower(word.substr(0, equals));
      const std::string_view value =
          equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
      if (key == "switchname") {
        name = std::string(value);
      } else if (key == "nodes" || key == "switches") {
        auto names = expanded_hostlist(value, budget_);
        if (const auto* problem = std::get_if<HostlistProblem>(&names)) {
          return fail(lines, in_quotes(value) + " " + problem->message, problem->help);
        }
        (key == "nodes" ? found.nodes : found.switches) =
            std::move(std::get<std::vector<std::string>>(names));
      } else if (key == "linkspeed") {
        has_speeds_ = true;
      } else if (key == "blockname" || key == "blocksizes") {
        return fail(lines, "blocks say which nodes are near each other, not how they are cabled",
                    "give a topology.conf of topology/tree");
      } else {
        return fail(lines, in_quotes(word) + " is nothing that topology.conf knows");
      }
    }
    if (is_empty) return;
    if (name.empty()) return fail(lines, "the line does not say which switch it is about");
    if (found.nodes.empty() && found.switches.empty()) {
      return fail(lines, "the switch has neither nodes nor switches below it");
    }
    found.location = lines.problem("").location;
    if (!switches_.emplace(name, std::move(found)).second) {
      fail(lines, in_quotes(name) + " is described twice");
    }
  }

  void fail(const LineReader& lines, std::string message, std::string help = "") {
    diagnostics_.add(lines.problem(std::move(message), std::move(help)));
  }

  Diagnostics& diagnostics_;
  std::map<std::string, SlurmSwitch> switches_;
  HostlistBudget budget_ = hostlist_budget();
  bool has_speeds_ = false;
};

/// Turns the lists into a tree of cables.
class SlurmTree {
 public:
  SlurmTree(std::map<std::string, SlurmSwitch>& switches, const ImportRequest& request,
            ImportDraft& draft)
      : switches_(switches), request_(request), draft_(draft) {}

  /// Sets every switch's parent; false if they make no tree.
  bool find_parents() {
    bool is_sound = true;
    for (auto& [name, parent] : switches_) {
      for (const std::string& child : parent.switches) {
        const auto known = switches_.find(child);
        if (known == switches_.end()) {
          draft_.fail(fmt::format("no line describes the switch {}", in_quotes(child)),
                      parent.location);
          is_sound = false;
        } else if (!known->second.parent.empty()) {
          draft_.fail(fmt::format("{} is below two switches, {} and {}", in_quotes(child),
                                  in_quotes(known->second.parent), in_quotes(name)),
                      parent.location, "a tree has one way up; draw the fabric from its own dump");
          is_sound = false;
        } else {
          known->second.parent = name;
        }
      }
    }
    std::vector<std::string> roots;
    for (const auto& [name, entry] : switches_) {
      if (entry.parent.empty()) roots.push_back(name);
    }
    if (is_sound && roots.size() != 1) {
      draft_.fail(roots.empty()
                      ? std::string("every switch is below another one")
                      : fmt::format("{} switches have none above them, such as {} and {}",
                                    roots.size(), in_quotes(roots[0]), in_quotes(roots[1])),
                  {}, "add the switch that joins all others");
      is_sound = false;
    }
    return is_sound && count_hosts(roots.front());
  }

  void add(BytesPerSecond bandwidth) {
    for (auto& [name, entry] : switches_) entry.vertex = draft_.add_switch(name);
    const int nics = request_.nics.value_or(1);
    const double shrink = request_.oversubscription.value_or(1.0);
    for (const auto& [name, entry] : switches_) {
      for (const std::string& node : entry.nodes) {
        for (int nic = 0; nic < nics; ++nic) {
          const int endpoint = draft_.add_endpoint(fmt::format("{}/nic{}", node, nic), node);
          draft_.add_cable({.a = endpoint, .b = entry.vertex, .bandwidth = bandwidth});
        }
      }
      if (entry.parent.empty()) continue;
      const double below = static_cast<double>(entry.hosts) * nics;
      draft_.add_cable({.a = entry.vertex,
                        .b = switches_.at(entry.parent).vertex,
                        .bandwidth = below / std::pow(shrink, entry.height) * bandwidth});
    }
  }

 private:
  /// Counts hosts and tiers from the bottom up, without recursion. False if some switch is not
  /// below the root: then switches go round in a circle.
  bool count_hosts(const std::string& root) {
    std::vector<std::string> order{root};
    std::map<std::string, std::string> owner;
    for (std::size_t i = 0; i < order.size(); ++i) {
      SlurmSwitch& entry = switches_.at(order[i]);
      entry.is_counted = true;
      for (const std::string& child : entry.switches) order.push_back(child);
      for (const std::string& node : entry.nodes) {
        if (owner.emplace(node, order[i]).second) continue;
        draft_.fail(fmt::format("the node {} is below two switches", in_quotes(node)),
                    entry.location);
        return false;
      }
    }
    for (const auto& [name, entry] : switches_) {
      if (entry.is_counted) continue;
      draft_.fail(fmt::format("{} is below itself", in_quotes(name)), entry.location);
      return false;
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      SlurmSwitch& entry = switches_.at(order[i]);
      entry.hosts += entry.nodes.size();
      if (!entry.switches.empty()) entry.height = 1 + switches_.at(entry.switches.front()).height;
      if (!entry.parent.empty()) switches_.at(entry.parent).hosts += entry.hosts;
    }
    return true;
  }

  std::map<std::string, SlurmSwitch>& switches_;
  const ImportRequest& request_;
  ImportDraft& draft_;
};

}  // namespace

/// topology.conf of Slurm's topology/tree: which nodes are below which switch. A tree only: the
/// cables between two switches become one, as wide as all hosts below it, divided by the
/// oversubscription once for each tier below.
std::optional<nlohmann::json> import_slurm(const ImportRequest& request, Diagnostics& diagnostics) {
  Diagnostics problems;
  SlurmReader reader(problems);
  for (const std::string& path : request.paths) reader.read(path);
  nlohmann::json topology;
  if (!problems.has_errors()) {
    ImportDraft draft(request, problems);
    if (reader.switches().empty()) {
      draft.fail("the file describes no switch", {.file = request.paths.front()});
    }
    SlurmTree tree(reader.switches(), request, draft);
    if (!problems.has_errors() && tree.find_parents()) {
      const BytesPerSecond bandwidth =
          draft.untold_bandwidth("topology.conf tells no rate in a known unit");
      if (!request.nics) draft.assume("NICs are not in the file: one for each node is taken");
      if (!request.oversubscription) {
        draft.assume(
            "how many cables join two switches is not in the file: as many as the hosts below "
            "need are taken; --oversubscription takes fewer");
      }
      if (reader.has_speeds()) draft.assume("LinkSpeed has no unit and is not used");
      tree.add(bandwidth);
      topology = draft.topology("topology.conf " + request.paths.front());
    }
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return topology;
}

}  // namespace headway
