#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "calibrate/cpu/library_collectives.h"
#include "calibrate/cpu/operand_pool.h"
#include "calibrate/cpu/transport.h"
#include "calibrate/suite/backend.h"

namespace headway {

struct CpuRules {
  std::uint64_t seed = 1;
  double link_bytes_per_s = 0.0;  ///< rate that the ranks' links are limited to; 0: not limited
  double link_burst_bytes = 0.0;  ///< that they let through at once after they stood idle
  std::string no_collectives;     ///< why there is no transport
  std::map<std::string, std::string> provenance;
};

/// One core as an accelerator: products by OpenBLAS on one thread, the kernels' C++ twins, and our
/// collectives over `transport` (null: one process, none), those of a library beside them.
class CpuBackend final : public Backend {
 public:
  CpuBackend(const CpuRules& rules, Transport* transport, LibraryCollectives* library = nullptr);
  [[nodiscard]] const Offer& offer() const override { return offer_; }
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override;

 private:
  Offer offer_;
  Transport* transport_;
  LibraryCollectives* library_;
  OperandPool a_;
  OperandPool b_;
  OperandPool c_;
  OperandPool d_;
};

/// Keeps this process on one core, so that ranks do not chase each other.
void pin_to_core(int core);

/// A rank is one core, and so is its BLAS.
void use_one_blas_thread();

/// A row-major matrix whose rows lie `leading` elements apart.
template <class Element>
struct MatrixRows {
  Element* data = nullptr;
  long leading = 0;
};

/// C = scale A B + kept C, for operands in that layout, on one thread.
void cpu_gemm(const GemmShape& shape, GemmLayout layout, const MatrixRows<const float>& a,
              const MatrixRows<const float>& b, const MatrixRows<float>& c, float scale,
              float kept);

/// C = A B, or C += A B, for row-major operands in the layout of `point`: [m x k] times [k x n], on
/// one thread.
void cpu_gemm(const GemmPoint& point, const float* a, const float* b, float* c,
              bool accumulates = false);

}  // namespace headway
