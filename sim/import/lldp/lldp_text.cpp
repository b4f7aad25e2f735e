#include <algorithm>
#include <vector>

#include "sim/base/utf8.h"
#include "sim/import/line_reader.h"
#include "sim/import/lldp/lldp_neighbours.h"
#include "sim/import/text_scanner.h"

namespace headway {
namespace {

/// The lines of either form. A switch's own eth0 is its management port, which is on no fabric.
class LldpTextReader {
 public:
  LldpTextReader(const std::string& device, LldpNeighbours& found, Diagnostics& diagnostics)
      : device_(device), found_(found), diagnostics_(diagnostics) {}

  void read(const std::string& path) {
    LineReader lines(path, diagnostics_);
    std::string_view line;
    const std::size_t before = diagnostics_.all().size();
    while (lines.next(line)) read_line(lines, line);
    if (lines.gave_up()) return;
    end_neighbour();
    if (is_known_ || diagnostics_.all().size() != before) return;
    Diagnostic problem;
    problem.message = "the file is no dump of LLDP neighbours";
    problem.location.file = path;
    problem.help = "give `show lldp table` or `show lldp neighbors` of SONiC, or lldpcli's JSON";
    diagnostics_.add(std::move(problem));
  }

 private:
  void read_line(const LineReader& lines, std::string_view line) {
    const std::string_view text = without_blanks(line);
    if (text.starts_with("LocalPort")) return begin_table(lines, line);
    if (text.starts_with("Interface:")) return begin_neighbour(text);
    if (!columns_.empty()) return read_row(lines, line);
    if (!interface_.empty()) read_fact(text);
  }

  /// The columns stand below their names.
  void begin_table(const LineReader& lines, std::string_view line) {
    is_known_ = true;
    for (const char* name :
         {"LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"}) {
      const std::size_t place = line.find(name);
      if (place == std::string_view::npos) {
        columns_.clear();
        diagnostics_.add(lines.problem(std::string("the table has no column ") + name,
                                       "give the output of `show lldp table` with its headings"));
        return;
      }
      columns_.push_back(place);
    }
  }

  void read_row(const LineReader& lines, std::string_view line) {
    const std::string_view text = without_blanks(line);
    if (text.empty() || text.starts_with("---") || text.starts_with("Total entries")) return;
    std::vector<std::string> values;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t begin = std::min(columns_[i], line.size());
      const std::size_t end = i + 1 < columns_.size() ? columns_[i + 1] : line.size();
      const std::string_view value = line.substr(begin, std::min(end, line.size()) - begin);
      values.push_back(printable(without_blanks(value)));
    }
    if (values[0].empty() || values[1].empty() || (values[2].empty() && values[4].empty())) {
      diagnostics_.add(lines.problem(
          "a row is a port, the device that it sees, and that device's port", kHelpOfBrokenLine));
      return;
    }
    add(values[0], values[1], "", values[2], values[4],
        values[3].find_first_of("BR") != std::string::npos);
  }

  /// "Interface:    swp51, via: LLDP, ..."
  void begin_neighbour(std::string_view text) {
    is_known_ = true;
    end_neighbour();
    columns_.clear();
    const std::string_view name = text.substr(text.find(':') + 1);
    interface_ = printable(without_blanks(name.substr(0, name.find(','))));
  }

  void read_fact(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = text.substr(0, colon);
    const std::string value = printable(without_blanks(text.substr(colon + 1)));
    // An id begins with its kind: "mac 06:99:..", "ifname swp1".
    const std::string id = value.substr(std::min(value.size(), value.find(' ') + 1));
    if (key == "ChassisID") chassis_ = id;
    if (key == "SysName") name_ = value;
    if (key == "PortID") port_ = id;
    if (key == "PortDescr") description_ = value;
    if (key == "Capability") {
      forwards_ |=
          (value.starts_with("Bridge") || value.starts_with("Router")) && value.ends_with(", on");
    }
  }

  void end_neighbour() {
    const std::string& name = name_.empty() ? chassis_ : name_;
    if (!interface_.empty() && !name.empty()) {
      add(interface_, name, chassis_, port_, description_, forwards_);
    }
    interface_ = name_ = chassis_ = port_ = description_ = "";
    forwards_ = false;
  }

  /// The port's id if it is a name; where it is an address the description is.
  void add(const std::string& near, const std::string& device, const std::string& chassis,
           const std::string& port, const std::string& description, bool forwards) {
    if (near == "eth0") return;
    const bool is_name = port.find(':') == std::string::npos && !port.empty();
    const std::string& name = is_name || description.empty() ? port : description;
    found_.add({.device = device_, .name = near}, {.device = device, .name = name}, chassis,
               forwards);
  }

  const std::string& device_;
  LldpNeighbours& found_;
  Diagnostics& diagnostics_;
  bool is_known_ = false;             ///< something in the file is LLDP's
  std::vector<std::size_t> columns_;  ///< of a table, whose rows are read
  std::string interface_;             ///< of the neighbour whose facts are read
  std::string name_;
  std::string chassis_;
  std::string port_;
  std::string description_;
  bool forwards_ = false;
};

}  // namespace

void read_lldp_text(const std::string& path, const std::string& device, LldpNeighbours& found,
                    Diagnostics& diagnostics) {
  found.begin_device(device);
  LldpTextReader(device, found, diagnostics).read(path);
}

}  // namespace headway
