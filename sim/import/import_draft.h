#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/import/import_format.h"
#include "sim/import/import_notes.h"

namespace headway {

/// Tells apart what bears one name: "leaf", "leaf'", "leaf'2", ... Counts, as trying one mark after
/// the other takes a time that grows with the square of how many share a name.
class MarkedNames {
 public:
  [[nodiscard]] std::string unique(const std::string& name) {
    std::string marked = name;
    for (auto namesakes = of_name_.find(name); of_name_.contains(marked);) {
      const int number = namesakes->second++;
      marked = name + "'" + (number == 1 ? "" : std::to_string(number));
    }
    of_name_.emplace(marked, 1);
    return marked;
  }

 private:
  std::map<std::string, int> of_name_;  ///< the mark that the next of the same name gets
};

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
    std::string port_a = {};          ///< as the site calls it; may be empty
    std::string port_b = {};
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
  [[nodiscard]] int add(const std::string& name, const std::string& host);
  [[nodiscard]] int usual_ports(const std::map<std::string, int>& ports_of_host);
  [[nodiscard]] nlohmann::json node_type(int nics);
  [[nodiscard]] nlohmann::json endpoints_json(std::map<std::string, int> ports_of_host, int nics);

  const ImportRequest& request_;
  std::vector<Vertex> vertices_;
  MarkedNames names_;
  std::vector<Cable> cables_;
};

}  // namespace headway
