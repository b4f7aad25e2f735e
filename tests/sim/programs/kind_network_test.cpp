// What transfers depend on, by what is known of them.
#include "sim/programs/kind_network.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"

namespace headway {
namespace {

TEST(KindNetwork, SizesOfMessagesMatterWhereTransfersWereMeasured) {
  const auto cluster = cluster_of(ClusterText{}.text());
  ASSERT_NE(cluster, nullptr);
  const auto measures = [&](const Profile& profile, CollectiveLibrary library) {
    return KindNetwork(*cluster, profile, library, PlanDetail::fabric).measures_transfers();
  };
  Profile plain = round_profile();
  plain.accelerator = "h100-sxm";
  Profile inside = plain;
  inside.scale_up.collectives.resize(1);
  Profile between = plain;
  between.scale_out.collectives.resize(1);
  EXPECT_FALSE(measures(plain, CollectiveLibrary::profile));
  EXPECT_TRUE(measures(inside, CollectiveLibrary::profile));
  EXPECT_TRUE(measures(between, CollectiveLibrary::profile));
  EXPECT_FALSE(measures(inside, CollectiveLibrary::nccl));  // which has formulas
}

}  // namespace
}  // namespace headway
