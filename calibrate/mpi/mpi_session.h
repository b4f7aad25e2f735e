#pragma once

#include <memory>
#include <string>

#include "calibrate/cpu/library_collectives.h"
#include "calibrate/cpu/transport.h"
#include "sim/base/units.h"

namespace headway {

/// MPI from initialisation to the end. Used only where a launcher started this process: MPI's own
/// start of a lone process takes a second and a daemon.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// Messages of their own, which no other transport sees. Call on all ranks.
  [[nodiscard]] std::unique_ptr<Transport> transport(Seconds deadline);

  /// Those of the MPI library. Call on all ranks.
  [[nodiscard]] std::unique_ptr<LibraryCollectives> collectives(Seconds deadline) const;

  /// Ends all ranks at once, without waiting for ones that may be gone.
  [[noreturn]] static void abort(int code);

  /// Whether mpirun or a compatible launcher started this process.
  [[nodiscard]] static bool is_launched();
  [[nodiscard]] static std::string library();

 private:
  [[nodiscard]] bool has_a_core() const;

  int rank_ = 0;
  int size_ = 1;
  int local_size_ = 1;  ///< ranks that share this one's memory
};

}  // namespace headway
