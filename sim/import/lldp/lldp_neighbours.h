#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// A port of a device, as the device itself calls it.
struct LldpPort {
  std::string device;
  std::string name;
  friend auto operator<=>(const LldpPort&, const LldpPort&) = default;
};

/// What devices say of their neighbours, put together.
class LldpNeighbours {
 public:
  struct Device {
    bool has_switch_port = false;
    bool has_host_port = false;
    bool says_it_forwards = false;  ///< capability Bridge or Router, enabled
    [[nodiscard]] bool is_switch() const {
      // Linux hosts with containers or virtual machines announce a bridge too, so names come first.
      return has_switch_port || (says_it_forwards && !has_host_port);
    }
  };

  void begin_device(const std::string& device) { dumped_.insert(device); }
  /// `near` sees `far`, whose chassis has that address ("06:99:6f:d2:6e:af"; empty if it is not
  /// told) and forwards or does not. A device without a name is called by its address.
  void add(const LldpPort& near, LldpPort far, const std::string& chassis, bool forwards);

  /// Cables, each once, and the devices at their ends. What is known by its address only is joined
  /// to what others call by a name.
  void finish();

  [[nodiscard]] const std::vector<std::pair<LldpPort, LldpPort>>& cables() const { return cables_; }
  [[nodiscard]] const std::map<std::string, Device>& devices() const { return devices_; }
  [[nodiscard]] std::size_t dumped() const { return dumped_.size(); }
  [[nodiscard]] int contradictions() const { return contradictions_; }
  [[nodiscard]] int loops() const { return loops_; }

 private:
  struct Sighting {
    LldpPort near;
    LldpPort far;
    bool far_forwards = false;
  };
  void name_devices();
  void name_ports();
  void note(const LldpPort& port);

  std::set<std::string> dumped_;
  std::vector<Sighting> sightings_;
  std::map<std::string, std::string> name_of_chassis_;
  std::map<std::string, Device> devices_;
  std::vector<std::pair<LldpPort, LldpPort>> cables_;
  int contradictions_ = 0;
  int loops_ = 0;
};

/// Reads `lldpcli -f json show neighbors` (or json0) of a device.
void read_lldp_json(const std::string& path, const std::string& device, LldpNeighbours& found,
                    Diagnostics& diagnostics);

/// Reads `show lldp table` or `show lldp neighbors` of SONiC; the latter is what `lldpcli show
/// neighbors` prints on any device. The management port of a switch, eth0, is passed over.
void read_lldp_text(const std::string& path, const std::string& device, LldpNeighbours& found,
                    Diagnostics& diagnostics);

}  // namespace headway
