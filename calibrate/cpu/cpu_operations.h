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

[[nodiscard]] std::unique_ptr<Operation> cpu_gemm_operation(const GemmPoint& point,
                                                            Operands operands);
[[nodiscard]] std::unique_ptr<Operation> cpu_memory_operation(const MemoryPoint& point,
                                                              Operands operands);
/// The implementation that `library` stands for.
inline constexpr const char* kLibraryImplementation = "library";

/// Nothing on a rank outside of the group. `library` may be null where it was not offered.
[[nodiscard]] std::unique_ptr<Operation> cpu_collective_operation(const CollectivePoint& point,
                                                                  Transport& transport,
                                                                  LibraryCollectives* library);

}  // namespace headway
