#include "sim/result/words/memory_margin.h"

#include <fmt/format.h>

namespace headway {

std::string memory_margin(const MemoryPrediction& memory) {
  bool is_full = false;
  for (const StageMemory& stage : memory.stages) {
    const Bytes capacity = stage.capacity > Bytes(0.0) ? stage.capacity : memory.capacity;
    is_full = is_full || stage.total() >= FullMemory::share * capacity;
  }
  if (!memory.fits || !is_full) return "";
  return fmt::format("of {} published jobs as full {} ran out", FullMemory::jobs,
                     FullMemory::ran_out);
}

}  // namespace headway
