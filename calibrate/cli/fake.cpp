#include "calibrate/cli/backends.h"
#include "calibrate/suite/fake_backend.h"

namespace headway {

int calibrate_fake(const Job& job, const PlanRules& rules) {
  FakeLaw law;
  law.noise = job.options.noise;
  std::vector<int> ranks;
  for (int group = 2; group <= job.options.ranks; group *= 2) ranks.push_back(group);
  FakeBackend backend(law, job.options.seed, ranks);
  SingleRendezvous alone;
  return calibrate(job, rules, backend, alone);
}

}  // namespace headway
