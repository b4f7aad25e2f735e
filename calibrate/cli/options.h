#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace headway {

enum class BackendKind { cpu, cuda, fake };
[[nodiscard]] std::string backend_name(BackendKind kind);

/// The command line of headway-calibrate, understood.
struct Options {
  BackendKind backend = BackendKind::cpu;
  bool quick = false;
  std::string output;         ///< empty: standard output
  std::string points;         ///< file for what was measured; empty: none
  std::string from;           ///< such a file, of which a profile is built with nothing measured
  std::string name = "here";  ///< empty with `from`: as there
  std::string accelerator;    ///< empty: as the backend, or `from`, names it
  std::string shapes;         ///< file of further products; "-" is standard input, empty: none
  std::string steps;          ///< file of training steps to be run instead of a calibration
  std::vector<std::string> only;      ///< sections and collectives to be measured; empty: all
  std::optional<BytesPerSecond> net;  ///< rate of the ranks' own links
  Seconds deadline{60.0};          ///< a rank that does not answer for this long is taken for dead
  bool is_single_process = false;  ///< drives all devices itself
  int ranks = 0;                   ///< 0: two on the CPU where MPI and cores allow it, else one
  std::optional<Seconds> jitter;   ///< how long one product is repeated at the end
  bool block = false;              ///< a transformer block is trained and compared at the end
  int passes = 3;
  std::uint64_t seed = 1;
  bool shows_progress = true;
  double noise = 0.05;  ///< of the fake backend
};

/// What the command line asks for instead of a calibration.
struct Answer {
  std::string text;
};

/// Throws InputError for a command line that makes no sense; returns an Answer in `answer` for
/// --help and --version.
[[nodiscard]] Options parsed_options(const std::vector<std::string>& arguments,
                                     std::optional<Answer>& answer);

}  // namespace headway
