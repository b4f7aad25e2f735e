#include "calibrate/ranks/rank_place.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
  /// Set for the ranks alone: what is in a batch job's script sees the others without being one.
  const char* only_for_ranks;
};

// torchrun and by hand; Open MPI; MPICH and Intel MPI (Hydra); Slurm's srun.
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "PMI_RANK"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_STEP_ID"}};

/// The number in a variable, `otherwise` where it is not set.
int number(const Environment& environment, const char* name, int least, int most, int otherwise) {
  const char* const text = environment(name);
  if (text == nullptr) return otherwise;
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  if (read.ec != std::errc() || read.ptr != end || value < least || value > most) {
    throw EnvironmentError(fmt::format("the environment's {} is \"{}\", not a number from {} to {}",
                                       name, text, least, most));
  }
  return value;
}

}  // namespace

std::optional<RankPlace> rank_place(const Environment& environment) {
  constexpr int kMostRanks = 1 << 20;
  for (const Launcher& launcher : kLaunchers) {
    if (environment(launcher.only_for_ranks) == nullptr || environment(launcher.size) == nullptr) {
      continue;
    }
    RankPlace place;
    place.size = number(environment, launcher.size, 1, kMostRanks, 1);
    place.rank = number(environment, launcher.rank, 0, place.size - 1, 0);
    place.local_rank = number(environment, launcher.local_rank, 0, place.size - 1, 0);
    place.port = number(environment, "MASTER_PORT", 1, 65535, place.port);
    place.listener = number(environment, "HEADWAY_LISTENER", 0, 1 << 20, place.listener);
    if (const char* const secret = environment("HEADWAY_RUN_SECRET")) place.secret = secret;
    if (const char* const address = environment("MASTER_ADDR")) {
      place.address = address;
    } else if (const char* const nodes = environment("SLURM_STEP_NODELIST")) {
      place.address = first_node(nodes);
    }
    return place;
  }
  return std::nullopt;
}

std::string first_node(const std::string& list) {
  const std::size_t bracket = list.find_first_of("[,");
  if (bracket == std::string::npos || list[bracket] == ',') return list.substr(0, bracket);
  const std::size_t end = list.find_first_of("-,]", bracket);
  const std::size_t close = list.find(']', bracket);
  if (end == std::string::npos || close == std::string::npos) return list;
  const std::size_t after = list.find_first_of(",[", close);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         list.substr(close + 1, after == std::string::npos ? after : after - close - 1);
}

}  // namespace headway
