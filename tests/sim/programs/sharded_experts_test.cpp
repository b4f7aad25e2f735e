#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "sim/layers/parameters.h"
#include "sim/programs/stage_program.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

TEST(ShardedExperts, AreGatheredAndReducedAmongTheirReplicas) {
  // Of 400 parameters a layer a rank works with 200, which two replicas share out: half of them
  // are fetched in 2 bytes before each of both passes, but for the last layer's, which is still
  // there when the backward pass begins; half of the gradients leave in 4.
  const SmallJob job = job_of_experts(2, Sharding::full);
  const Program program = sharded_program(job.shape());
  EXPECT_DOUBLE_EQ(joined_bytes(program, kExpertGather), (2.0 + 1.0) * 0.5 * 200.0 * 2.0);
  EXPECT_DOUBLE_EQ(joined_bytes(program, kExpertReduce), 2.0 * 0.5 * 200.0 * 4.0);
  EXPECT_GT(joined_bytes(program, kParameterGather), 0.0);
}

TEST(ShardedExperts, MomentaAreGatheredAmongThoseWhoShareThem) {
  // Before matrices are made orthogonal, in 2 bytes: of all others each of 4 ranks lacks three
  // quarters, of experts each of two replicas half.
  SmallJob job = job_of_experts(2, Sharding::full);
  const auto gathered = [&job](const char* optimizer, std::string_view communicator) {
    job.strategy.optimizer = &*std::ranges::find(optimizers(), optimizer, &Optimizer::name);
    return joined_bytes(sharded_program(job.shape()), communicator);
  };
  const auto of_momenta = [&](std::string_view communicator) {
    return gathered("muon", communicator) - gathered("adam", communicator);
  };
  EXPECT_DOUBLE_EQ(of_momenta(kExpertGather), 0.5 * 2.0 * 200.0 * 2.0);
  const double shared = 2.0 * parameters(job.model.layer(0)).shared();
  EXPECT_NE(shared, 2.0 * 200.0);
  EXPECT_DOUBLE_EQ(of_momenta(kParameterGather), 0.75 * shared * 2.0);
}

TEST(ShardedExperts, StayWhereTheyAreIfNobodyHasTheSame) {
  const SmallJob job = job_of_experts(4, Sharding::full);
  const Program program = sharded_program(job.shape());
  EXPECT_EQ(joined_bytes(program, kExpertGather), 0.0);
  EXPECT_EQ(joined_bytes(program, kExpertReduce), 0.0);
}

}  // namespace
}  // namespace headway
