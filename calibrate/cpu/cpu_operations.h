#pragma once

#include <memory>

#include "calibrate/cpu/library_collectives.h"
#include "calibrate/cpu/operand_pool.h"
#include "calibrate/cpu/transport.h"
#include "calibrate/suite/backend.h"

namespace headway {

/// Pools of the operands x, y, z and of a fourth buffer.
struct Operands {
  OperandPool& a;
  OperandPool& b;
  OperandPool& c;
  OperandPool& d;
};

/// One product after the other, each of operands of its own.
[[nodiscard]] std::unique_ptr<Operation> cpu_batched_operation(const BatchedGemmPoint& point,
                                                               Operands operands);
/// Where `wait` is above 0, each sample is a burst of passes after so long a sleep.
[[nodiscard]] std::unique_ptr<Operation> cpu_memory_operation(const MemoryPoint& point,
                                                              Operands operands, Seconds wait);
/// The implementation that `library` stands for.
inline constexpr const char* kLibraryImplementation = "library";

/// Nothing on a rank outside of the group. `library` may be null where it was not offered. Over
/// links of limited rate a sample is some repetitions back to back, after a pause or after others.
[[nodiscard]] std::unique_ptr<Operation> cpu_collective_operation(const CollectivePoint& point,
                                                                  Transport& transport,
                                                                  LibraryCollectives* library,
                                                                  bool limited_links);

}  // namespace headway
