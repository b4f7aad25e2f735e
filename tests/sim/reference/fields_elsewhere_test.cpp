#include "sim/reference/fields_elsewhere.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

std::string help_of(const std::string& field, const std::string& help) {
  return with_fields_elsewhere({{.help = help, .unknown_field = field}}).front().help;
}

TEST(FieldsElsewhere, AreNamedWhereThereAreFew) {
  EXPECT_EQ(help_of("spot_notice", "there are nodes"),
            "there are nodes; elsewhere there is reliability.spot_notice");
  EXPECT_EQ(help_of("accelerators", ""),
            "elsewhere there is post_training.generation.accelerators, "
            "cluster.topology.node.accelerators, "
            "cluster.topology.expect.accelerators");
}

TEST(FieldsElsewhere, AreNoHelpWhereThereAreManyOrNoneOrASlipIsNearer) {
  EXPECT_EQ(help_of("name", "there are nodes"), "there are nodes");
  EXPECT_EQ(help_of("nosuch", ""), "");
  EXPECT_EQ(help_of("spot_notice", "did you mean \"notice\"?"), "did you mean \"notice\"?");
  EXPECT_EQ(help_of("", "there are nodes"), "there are nodes");
}

}  // namespace
}  // namespace headway
