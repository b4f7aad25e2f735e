#include "calibrate/ranks/rank_place.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

std::optional<RankPlace> place(const std::map<std::string, std::string>& variables) {
  return rank_place([&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(RankPlace, IsNothingForAProcessByItself) {
  EXPECT_FALSE(place({}).has_value());
  EXPECT_FALSE(place({{"RANK", "1"}}).has_value());  // of how many?
}

TEST(RankPlace, IsReadFromPlainVariables) {
  const auto found = place({{"RANK", "5"},
                            {"WORLD_SIZE", "8"},
                            {"LOCAL_RANK", "1"},
                            {"MASTER_ADDR", "node7"},
                            {"MASTER_PORT", "4000"}});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rank, 5);
  EXPECT_EQ(found->size, 8);
  EXPECT_EQ(found->local_rank, 1);
  EXPECT_EQ(found->address, "node7");
  EXPECT_EQ(found->port, 4000);
}

TEST(RankPlace, IsReadFromMpirunAndSrun) {
  const auto mpi = place({{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  ASSERT_TRUE(mpi.has_value());
  EXPECT_EQ(mpi->rank, 1);
  EXPECT_EQ(mpi->local_rank, 0);
  EXPECT_EQ(mpi->address, "");
  const auto slurm = place({{"SLURM_PROCID", "9"},
                            {"SLURM_NTASKS", "16"},
                            {"SLURM_LOCALID", "1"},
                            {"SLURM_STEP_ID", "0"},
                            {"SLURM_STEP_NODELIST", "gpu[003-004]"}});
  ASSERT_TRUE(slurm.has_value());
  EXPECT_EQ(slurm->rank, 9);
  EXPECT_EQ(slurm->local_rank, 1);
  EXPECT_EQ(slurm->address, "gpu003");
}

TEST(RankPlace, ABatchScriptIsNoRankOfItsJob) {
  EXPECT_FALSE(place({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}).has_value());
}

TEST(RankPlace, RefusesNumbersThatCannotBe) {
  for (const char* rank : {"8", "-1", "one", "1x", ""}) {
    try {
      (void)place({{"RANK", rank}, {"WORLD_SIZE", "8"}});
      FAIL() << "accepted " << rank;
    } catch (const EnvironmentError& error) {
      EXPECT_EQ(std::string(error.what()), "the environment's RANK is \"" + std::string(rank) +
                                               "\", not a number from 0 to 7");
    }
  }
}

TEST(FirstNode, OpensSlurmsLists) {
  EXPECT_EQ(first_node("login"), "login");
  EXPECT_EQ(first_node("a1,b2"), "a1");
  EXPECT_EQ(first_node("gpu[003-005,9],login"), "gpu003");
  EXPECT_EQ(first_node("gpu[7,9]"), "gpu7");
  EXPECT_EQ(first_node("rack[1-2]-node,x"), "rack1-node");
}

}  // namespace
}  // namespace headway
