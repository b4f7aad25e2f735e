// Parameters that are gathered in as many bytes as products take.
#include <gtest/gtest.h>

#include "sim/jobs/rank_shape_of.h"
#include "sim/programs/pieces/replica_messages.h"
#include "sim/programs/pieces/stage_pieces.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

/// Four layers of 1,000 parameters, embedding and head of 10 each, sharded over two ranks.
SmallJob on_two_ranks(Precision precision, Scaling scaling = Scaling::delayed) {
  SmallJob job(4);
  job.strategy.data_parallel = 2;
  job.strategy.sharding = Sharding::full;
  job.strategy.precision = precision;
  job.strategy.scaling = scaling;
  job.strategy.quantised_parameter_gathers = true;
  job.set_micro_batches(1);
  return job;
}

double bytes_of(const SmallJob& job) {
  UpdatedPart all;
  const JobShape shape = job.shape();
  for (const Piece& piece : chunk_pieces(shape, 0)) all += gathered_of(shape, piece);
  EXPECT_DOUBLE_EQ(all.elements, 4020.0);
  EXPECT_DOUBLE_EQ(all.wide, 20.0);
  return gathered_bytes(job.strategy, all);
}

TEST(QuantisedGathers, TakeAByteOfLayersAndTwoOfTheEnds) {
  EXPECT_DOUBLE_EQ(bytes_of(on_two_ranks(Precision::fp8)), 4000.0 + 2.0 * 20.0);
  EXPECT_DOUBLE_EQ(bytes_of(on_two_ranks(Precision::fp8, Scaling::mxfp8)),
                   4000.0 * (1.0 + 1.0 / 32.0) + 2.0 * 20.0);
  SmallJob off = on_two_ranks(Precision::fp8);
  off.strategy.quantised_parameter_gathers = false;
  EXPECT_DOUBLE_EQ(bytes_of(off), 2.0 * 4020.0);
}

TEST(QuantisedGathers, AreWideWhereProductsAreOrScalesAreOfRows) {
  EXPECT_DOUBLE_EQ(bytes_of(on_two_ranks(Precision::bf16)), 2.0 * 4020.0);
  EXPECT_DOUBLE_EQ(bytes_of(on_two_ranks(Precision::fp8, Scaling::rowwise)), 2.0 * 4020.0);
  EXPECT_DOUBLE_EQ(bytes_of(on_two_ranks(Precision::fp32)), 4.0 * 4020.0);
  EXPECT_DOUBLE_EQ(bytes_of(on_two_ranks(Precision::tf32)), 4.0 * 4020.0);
}

TEST(QuantisedGathers, LeaveFrozenParametersWide) {
  SmallJob job = on_two_ranks(Precision::fp8);
  job.strategy.task = Task::lora;
  EXPECT_FALSE(can_gather_quantised_parameters(job.strategy));
  EXPECT_DOUBLE_EQ(gathered_parameter_bytes(job.strategy), 2.0);
}

// A gather of a byte a second and a parameter: three of four layers are gathered ahead of the
// forward pass, and all again for the backward pass.
TEST(QuantisedGathers, AreWhatAProgramJoins) {
  const auto joined = [](const SmallJob& job) {
    const Program program = sharded_program(job.shape());
    double amount = 0.0;
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::join) continue;
      const std::string& name = program.communicators[static_cast<std::size_t>(operation.path)];
      if (name == kParameterGather) amount += operation.amount.count();
    }
    return amount;
  };
  const SmallJob narrow = on_two_ranks(Precision::fp8);
  SmallJob wide = narrow;
  wide.strategy.quantised_parameter_gathers = false;
  // The last layer and the head, 1,010 parameters, are gathered once.
  EXPECT_DOUBLE_EQ(joined(narrow) / joined(wide), (7000.0 + 2.0 * 30.0) / (2.0 * (7000.0 + 30.0)));
}

}  // namespace
}  // namespace headway
