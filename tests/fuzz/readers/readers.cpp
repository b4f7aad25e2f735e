#include "tests/fuzz/readers/readers.h"

#include <algorithm>
#include <array>
#include <new>

#include "sim/base/diagnostic.h"
#include "sim/base/limits.h"
#include "sim/network/routing/routing.h"

namespace headway {
namespace {

constexpr std::array kReaders = {
    Reader{"scenario", true, scenario_reader},
    Reader{"road", true, road_reader},
    Reader{"model", true, model_reader},
    Reader{"huggingface", true, huggingface_reader},
    Reader{"topology", true, topology_reader},
    Reader{"profile", true, profile_reader},
    Reader{"steps", true, steps_reader},
    Reader{"sync", true, sync_reader},
    Reader{"collectives", true, collectives_reader},
    Reader{"result", true, result_reader},
    Reader{"set", false, set_reader},
    Reader{"axis", false, axis_reader},
    Reader{"goal", false, goal_reader},
    Reader{"trace", false, trace_reader},
    Reader{"log", false, log_reader},
    Reader{"store", false, store_reader},
    Reader{"ibnetdiscover", false, [](const std::string& t) { import_reader("ibnetdiscover", t); }},
    Reader{"iblinkinfo", false, [](const std::string& t) { import_reader("iblinkinfo", t); }},
    Reader{"opensm-subnet", false, [](const std::string& t) { import_reader("opensm-subnet", t); }},
    Reader{"ibdiagnet", false, [](const std::string& t) { import_reader("ibdiagnet", t); }},
    Reader{"sonic", false, [](const std::string& t) { import_reader("sonic", t); }},
    Reader{"slurm", false, [](const std::string& t) { import_reader("slurm", t); }},
    Reader{"lldp", true, [](const std::string& t) { import_reader("lldp", t); }},
    Reader{"nccl-xml", false, [](const std::string& t) { import_reader("nccl-xml", t); }},
    Reader{"topo-matrix", false, [](const std::string& t) { import_reader("topo-matrix", t); }},
    Reader{"graphml", false, [](const std::string& t) { import_reader("graphml", t); }},
    Reader{"megatron-lm", false, [](const std::string& t) { launch_reader("megatron-lm", t); }},
    Reader{"torchtitan", false, [](const std::string& t) { launch_reader("torchtitan", t); }},
    Reader{"accelerate", false, [](const std::string& t) { launch_reader("accelerate", t); }},
    Reader{"deepspeed", true, [](const std::string& t) { launch_reader("deepspeed", t); }},
};

constexpr Limits kSmall{.file_bytes = 4 << 20,
                        .values = 200'000,
                        .text_bytes = 16 << 20,
                        .expansion = 100,
                        .rows = 20'000,
                        .hosts = 4'096,
                        .cables = 20'000,
                        .passes = 20'000,
                        .problems = 100};

/// The limits of this process, while it lives.
class SmallLimits {
 public:
  SmallLimits() : before_(limits()) { limits() = kSmall; }
  ~SmallLimits() { limits() = before_; }
  SmallLimits(const SmallLimits&) = delete;
  SmallLimits& operator=(const SmallLimits&) = delete;

 private:
  Limits before_;
};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader& reader_named(std::string_view name) {
  const auto* const found = std::ranges::find(kReaders, name, &Reader::name);
  HEADWAY_CHECK(found != kReaders.end(), "there is no reader " + std::string(name));
  return *found;
}

bool read_within_limits(const Reader& reader, const std::string& text) {
  const SmallLimits small;
  try {
    reader.read(text);
    return true;
  } catch (const InputError& error) {
    HEADWAY_CHECK(!rendered(error.diagnostics(), "nothing was done").empty(), "a word of why");
  } catch (const UnreachableError& error) {
    static_cast<void>(as_input_error(error));
  } catch (const EnvironmentError& error) {
    HEADWAY_CHECK(*error.what() != '\0', "a word of why");
  }
  return false;
}

}  // namespace headway
