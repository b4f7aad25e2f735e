#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// One way of the outside into the program, for tests that give it anything.
struct Reader {
  std::string_view name;
  bool is_json;
  /// Reads a text and does with what came out what a command does first. Input that is refused is
  /// fine; anything else that is thrown is a mistake of ours.
  void (*read)(const std::string& text);
};

[[nodiscard]] std::span<const Reader> readers();

/// Requires that there is one of that name.
[[nodiscard]] const Reader& reader_named(std::string_view name);

/// Reads the text, within limits so small that no input which they let through takes long or much.
/// InputError and what is the machine's end here. Returns whether the text was taken.
bool read_within_limits(const Reader& reader, const std::string& text);

// The readers, by where the text comes from.
void scenario_reader(const std::string& text);
/// check, simulate and report, every form of the answer judged by the oracle.
void road_reader(const std::string& text);
void model_reader(const std::string& text);
void huggingface_reader(const std::string& text);
void topology_reader(const std::string& text);
void profile_reader(const std::string& text);
void steps_reader(const std::string& text);
void sync_reader(const std::string& text);
void collectives_reader(const std::string& text);
void result_reader(const std::string& text);
void set_reader(const std::string& text);   ///< a --set a line
void axis_reader(const std::string& text);  ///< an --axis a line
void goal_reader(const std::string& text);
void trace_reader(const std::string& text);
void log_reader(const std::string& text);
void store_reader(const std::string& text);
/// Scenarios for it to begin with: of all families, on few nodes, every default written out.
[[nodiscard]] std::vector<std::string> road_texts();
/// Several files are parted by kFileEnd.
void import_reader(std::string_view format, const std::string& text);
/// What starts a job, or its log, as a scenario.
void launch_reader(std::string_view name, const std::string& text);
inline constexpr std::string_view kFileEnd = "\n=====\n";

}  // namespace headway
