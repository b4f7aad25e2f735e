#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/import/import_format.h"
#include "sim/import/import_notes.h"

namespace headway {

/// A fabric while it is imported. Vertices are numbered in the order they were added.
class ImportDraft : public ImportNotes {
 public:
  ImportDraft(const ImportRequest& request, Diagnostics& diagnostics)
      : ImportNotes(diagnostics), request_(request) {}

  [[nodiscard]] int add_switch(const std::string& name);
  /// A NIC port of a host.
  [[nodiscard]] int add_endpoint(const std::string& name, const std::string& host);

  struct Cable {
    int a = -1;
    int b = -1;
    BytesPerSecond bandwidth;
    Seconds latency = Seconds(-1.0);  ///< less than 0 leaves it to the topology's default
  };
  void add_cable(const Cable& cable) { cables_.push_back(cable); }

  /// What the user says of links without a rate, else 100 Gb/s, which is then assumed.
  [[nodiscard]] BytesPerSecond untold_bandwidth(const std::string& why);

  /// The topology object, or null with diagnostics. Hosts come in the order of their names; nodes
  /// are those with as many ports as most have.
  [[nodiscard]] nlohmann::json topology(const std::string& source);

 private:
  struct Vertex {
    std::string name;
    std::string host;  ///< empty for a switch
  };
  [[nodiscard]] int add(std::string name, std::string host);
  [[nodiscard]] int usual_ports(const std::map<std::string, int>& ports_of_host);
  [[nodiscard]] nlohmann::json node_type(int nics);
  [[nodiscard]] nlohmann::json endpoints_json(std::map<std::string, int> ports_of_host, int nics);

  const ImportRequest& request_;
  std::vector<Vertex> vertices_;
  std::set<std::string> names_;
  std::vector<Cable> cables_;
};

}  // namespace headway
