#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/import/line_reader.h"
#include "sim/import/slurm/hostlist.h"

namespace headway {

/// A switch as Slurm is told of it, with what is listed below it.
struct SlurmSwitch {
  std::vector<std::string> switches;
  std::vector<std::string> nodes;
  SourceLocation location;
};

/// What Slurm's topology plugins know: trees of switches, and blocks of nodes that are near each
/// other (on NVL72 systems a rack).
struct SlurmFabric {
  std::map<std::string, SlurmSwitch> switches;
  std::map<std::string, std::string> block_of_node;
  bool has_speeds = false;
};

/// Reads a topology.conf (topology/tree or topology/block) or a topology.yaml, of which the first
/// tree and the first blocks count. Lines that do not fit are reported with the reason.
class SlurmReader {
 public:
  SlurmReader(SlurmFabric& fabric, Diagnostics& diagnostics);
  void read(const std::string& path);

 private:
  void read_conf_line(const LineReader& lines, std::string_view line);
  void read_yaml(LineReader& lines, std::string_view line);
  void add_switch(const LineReader& lines, const std::string& name, SlurmSwitch found);
  void add_block(const LineReader& lines, const std::string& name,
                 const std::vector<std::string>& nodes);
  /// False, with a problem, if it is no list of hosts.
  [[nodiscard]] bool expand(const LineReader& lines, std::string_view text,
                            std::vector<std::string>& names);
  void fail(const LineReader& lines, std::string message, std::string help = "");

  SlurmFabric& fabric_;
  Diagnostics& diagnostics_;
  HostlistBudget budget_;
};

}  // namespace headway
