#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/units.h"

namespace headway {

/// What is to be imported, and what its user knows beyond the files.
struct ImportRequest {
  std::vector<std::string> paths;  ///< at least one
  std::string name;                ///< of what is made
  std::string node;                ///< of a node type; empty assumes one
  std::string accelerator;         ///< as profiles name it; empty takes what the file tells
  std::optional<BytesPerSecond> bandwidth;  ///< of a link or a NIC whose rate the files do not tell
  std::optional<BytesPerSecond> scale_up_bandwidth;  ///< of an accelerator inside its node
  std::optional<int> nics;                           ///< of a node, where the files do not tell
  std::optional<double> oversubscription;            ///< of each tier, where they do not tell
  std::vector<std::string> domains;  ///< files that tell which nodes share a scale-up domain
  std::string domain_pattern;        ///< the same, from names; empty if none

  // Of a scenario, what does not stand in the file that starts its job.
  std::string topology;              ///< a file, or a name that ships
  std::string profile;               ///< the same
  std::string preset;                ///< empty: the software that the file tells
  std::string model;                 ///< a file, or a name that ships; empty: the file's
  std::optional<int> nodes;          ///< of the topology that the job runs on
  std::optional<double> vocabulary;  ///< what the tokenizer knows
  std::optional<double> sequence_length;
};

/// Makes an object of the kind that its format says. What is assumed is a warning, and stands in
/// the object's "source"; what cannot be right is an error, and nothing is made.
using Importer = std::optional<nlohmann::json>(const ImportRequest& request,
                                               Diagnostics& diagnostics);

/// What an importer makes: a "headway/topology/1" object, a "headway/node/1", or a
/// "headway/scenario/1".
enum class ImportedKind { topology, node, scenario };

/// A form of input, as `headway import` names it.
struct ImportFormat {
  std::string_view name;
  Importer* import;
  ImportedKind makes;
  std::string_view input;                      ///< what its files are
  std::span<const std::string_view> knows_of;  ///< the options that it takes into account
  std::string_view reads_besides = {};         ///< another format, whose files tell it more
};

/// Those of fabrics and nodes; those of jobs are launch_formats() (sim/launch/reading).
[[nodiscard]] std::span<const ImportFormat> import_formats();

/// Imports, and has the topology's nodes know their scale-up domains as far as the request tells
/// them (sim/import/node_domains.h).
[[nodiscard]] std::optional<nlohmann::json> imported(const ImportFormat& format,
                                                     const ImportRequest& request,
                                                     Diagnostics& diagnostics);

}  // namespace headway
