#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// The configuration that a job is started with, and what the script says that starts it.
struct StartedConfig {
  std::string file;      ///< where it stands; of one in a script the script
  std::string text;      ///< empty if a script names none
  int lines_before = 0;  ///< of that file
  StartedJob job;        ///< without settings where the file is the configuration itself
};

/// `path` is the configuration, or a script that is started with one: the file that a flag of these
/// names ("--deepspeed-config") or a variable ("CONFIG_FILE"), written by the script itself
/// (`cat > NAME <<END`) or beside it. Nothing, and an error, for what is no file.
[[nodiscard]] std::optional<StartedConfig> read_started_config(
    const std::string& path, bool (*is_configuration)(const std::string& text),
    std::span<const std::string_view> names, Diagnostics& diagnostics);

/// What a script writes into a file of that name; nothing where it does not.
struct HereDocument {
  std::string text;
  int lines_before = 0;
};
[[nodiscard]] std::optional<HereDocument> here_document_of(std::string_view script,
                                                           std::string_view name);

}  // namespace headway
