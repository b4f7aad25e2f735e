#include "sim/result/power.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Power, IsReadWithItsUnit) {
  EXPECT_EQ(parse_power("700 W"), Watts(700.0));
  EXPECT_EQ(parse_power("0.5kW"), Watts(500.0));
  EXPECT_EQ(parse_power("2 MW"), Watts(2e6));
  for (const char* text : {"", "700", "W", "700 w", "700 J", "700  W", "700 W ", "inf W"}) {
    EXPECT_FALSE(parse_power(text).has_value()) << text;
  }
}

TEST(Power, TimesTimeIsEnergy) { EXPECT_EQ(Watts(700.0) * Seconds(2.0), Joules(1400.0)); }

TEST(Power, EnergyIsShownInAFittingUnit) {
  EXPECT_EQ(short_text(Joules(0.0)), "0 J");
  EXPECT_EQ(short_text(Joules(351.0)), "351 J");
  EXPECT_EQ(short_text(Joules(7.2e6)), "2 kWh");  // 3.6 MJ each
  EXPECT_EQ(short_text(Joules(4.32e9)), "1.2 MWh");
}

}  // namespace
}  // namespace headway
