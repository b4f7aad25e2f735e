#include <nlohmann/json.hpp>

#include "sim/files/json_document.h"
#include "sim/import/lldp/lldp_neighbours.h"

namespace headway {
namespace {

constexpr const char* kHelpOfDump = "give the output of `lldpcli -f json show neighbors details`";

/// Member `key`; of a list, which `-f json0` makes of everything, the first element.
std::optional<JsonCursor> member_of(const JsonCursor& object, std::string_view key) {
  auto member = object.member(key);
  if (!member || !member->is_array()) return member;
  if (member->value().empty()) return std::nullopt;
  return member->element(0);
}

/// A text, or the text in {"value": ...}; empty if it is neither.
std::string text_of(const std::optional<JsonCursor>& cursor) {
  if (!cursor) return "";
  if (const auto text = cursor->text()) return *text;
  const auto value = member_of(*cursor, "value");
  return value ? value->text().value_or("") : "";
}

class LldpJsonReader {
 public:
  LldpJsonReader(LldpNeighbours& found, Diagnostics& diagnostics)
      : found_(found), diagnostics_(diagnostics) {}

  void read_interfaces(const std::string& device, const JsonCursor& list) {
    if (list.is_object()) return read_named(device, list);
    if (!list.is_array()) {
      diagnostics_.add(list.problem("\"interface\" is a list or an object", "", kHelpOfDump));
      return;
    }
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      const JsonCursor entry = list.element(i);
      const std::string name = text_of(entry.member("name"));
      name.empty() ? read_named(device, entry) : read_neighbour({device, name}, entry);
    }
  }

 private:
  /// {"swp51": {...}}
  void read_named(const std::string& device, const JsonCursor& object) {
    if (!object.is_object()) {
      diagnostics_.add(object.problem("an interface is an object", "", kHelpOfDump));
      return;
    }
    for (const auto& [name, unused] : object.value().items()) {
      if (const auto entry = object.member(name)) read_neighbour({device, name}, *entry);
    }
  }

  void read_neighbour(const LldpPort& near, const JsonCursor& entry) {
    const auto chassis = member_of(entry, "chassis");
    const auto port = member_of(entry, "port");
    if (!chassis || !port) return;  // nobody at the other end
    const auto [name, body] = named_chassis(*chassis);
    if (name.empty()) {
      diagnostics_.add(
          chassis->problem("the neighbour has neither a name nor an id", "", kHelpOfDump));
      return;
    }
    const LldpPort far{.device = name, .name = port_name(*port)};
    if (far.name.empty()) {
      diagnostics_.add(port->problem("the neighbour's port has neither an id nor a description", "",
                                     kHelpOfDump));
      return;
    }
    found_.add(near, far, text_of(member_of(body, "id")), forwards(body));
  }

  /// json: {"spine1": {...}}, or the chassis itself if it has no name; json0: "name" is a field.
  static std::pair<std::string, JsonCursor> named_chassis(const JsonCursor& chassis) {
    if (!chassis.is_object()) return {"", chassis};
    if (const auto name = member_of(chassis, "name")) return {text_of(name), chassis};
    if (const auto id = member_of(chassis, "id"); id && id->member("value")) {
      return {text_of(id), chassis};
    }
    for (const auto& [name, unused] : chassis.value().items()) {
      if (auto body = chassis.member(name)) return {name, *body};
    }
    return {"", chassis};
  }

  /// The id if it is a name, else the description, in which the name of a port with an address for
  /// its id stands.
  static std::string port_name(const JsonCursor& port) {
    const auto id = member_of(port, "id");
    const std::string type = id ? text_of(member_of(*id, "type")) : "";
    std::string description = text_of(member_of(port, "descr"));
    if (type == "ifname" || type == "local" || description.empty()) return text_of(id);
    return description;
  }

  static bool forwards(const JsonCursor& chassis) {
    const auto list = chassis.member("capability");
    if (!list || !list->is_array()) return false;
    for (const nlohmann::json& entry : list->value()) {
      if (!entry.is_object() || !entry.contains("type") || !entry.contains("enabled")) continue;
      const nlohmann::json& type = entry["type"];
      if ((type == "Bridge" || type == "Router") && entry["enabled"] == true) return true;
    }
    return false;
  }

  LldpNeighbours& found_;
  Diagnostics& diagnostics_;
};

}  // namespace

void read_lldp_json(const std::string& path, const std::string& device, LldpNeighbours& found,
                    Diagnostics& diagnostics) {
  const auto document = JsonDocument::read(path, diagnostics);
  if (!document) return;
  const JsonCursor root(document);
  const auto lldp = member_of(root, "lldp");
  if (!lldp) {
    diagnostics.add(root.problem("the file is no dump of LLDP neighbours", "", kHelpOfDump));
    return;
  }
  found.begin_device(device);
  // A device without neighbours has no list; with one it may be the object itself.
  if (const auto list = lldp->member("interface")) {
    LldpJsonReader(found, diagnostics).read_interfaces(device, *list);
  }
}

}  // namespace headway
