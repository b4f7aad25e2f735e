// Prints how far the calibrator is off on devices whose times are known; 1 where further than it may.
#include <fmt/format.h>

#include <cstdlib>

#include "calibrate/suite/rendezvous.h"
#include "tests/calibrate/fake_cuda/bias.h"

int main() {
  using namespace headway;
  setenv("FAKE_CUDA_DEVICES", "8", 1);
  SingleRendezvous alone;
  CudaBackend backend(1, alone, 0);
  const std::vector<Bias> all = biases(backend);
  fmt::print("{}", bias_table(all));
  int code = 0;
  for (const Bias& one : all) {
    for (const std::string& point : too_far(one)) {
      fmt::print("too far: {}\n", point);
      code = 1;
    }
  }
  return code;
}
