#include <gtest/gtest.h>

#include "sim/programs/stage_program.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

/// Two layers whose MLP is four experts of 10 x 5 and 5 x 10 (plain), one a token, on 4 ranks.
SmallJob expert_job(int expert_parallel) {
  SmallJob job(2);
  TransformerModel fields = thousand_parameter_fields(2);
  fields.mixture_of_experts =
      MixtureOfExperts{.experts = 4, .experts_per_token = 1, .expert_hidden = 5};
  job.model = layers_of(fields);
  job.strategy.data_parallel = 4;
  job.strategy.expert_parallel = expert_parallel;
  job.strategy.sharding = Sharding::full;
  job.set_micro_batches(1);
  return job;
}

TEST(ShardedExperts, AreGatheredAndReducedAmongTheirReplicas) {
  // Of 400 parameters a layer a rank works with 200, which two replicas share out: half of them
  // are fetched in 2 bytes before each of both passes, but for the last layer's, which is still
  // there when the backward pass begins; half of the gradients leave in 4.
  const SmallJob job = expert_job(2);
  const Program program = sharded_program(job.shape());
  EXPECT_DOUBLE_EQ(joined_bytes(program, kExpertGather), (2.0 + 1.0) * 0.5 * 200.0 * 2.0);
  EXPECT_DOUBLE_EQ(joined_bytes(program, kExpertReduce), 2.0 * 0.5 * 200.0 * 4.0);
  EXPECT_GT(joined_bytes(program, kParameterGather), 0.0);
}

TEST(ShardedExperts, StayWhereTheyAreIfNobodyHasTheSame) {
  const SmallJob job = expert_job(4);
  const Program program = sharded_program(job.shape());
  EXPECT_EQ(joined_bytes(program, kExpertGather), 0.0);
  EXPECT_EQ(joined_bytes(program, kExpertReduce), 0.0);
}

}  // namespace
}  // namespace headway
