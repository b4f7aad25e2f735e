#include "sim/result/words/advice.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

/// A step of 10 ms that waits 4 ms for servers which meet their workers so.
std::string advice_to(const char* synchronisation) {
  Prediction waits;
  waits.iteration_time = 0.010_s;
  waits.breakdown[Cause::compute] = 0.006_s;
  waits.breakdown[Cause::server_wait] = 0.004_s;
  waits.memory.fits = true;
  waits.question.scenario =
      nlohmann::json{{"strategy", {{"synchronisation", nlohmann::json::parse(synchronisation)}}}};
  return closing_sentence(waits);
}

TEST(Advice, ToServersIsWhatTheirJobDoesNotDoYet) {
  const std::string begin = "Largest gain left: waiting for servers, 4.00 ms of 10.0 ms; ";
  EXPECT_EQ(advice_to(R"({"updates": "synchronous"})"),
            begin + "more servers, or asynchronous updates, shrink it.");
  EXPECT_EQ(advice_to(R"({"updates": "asynchronous"})"),
            begin + "more servers, or more steps between updates (push_every), shrink it.");
}

// Neither more servers nor other updates widen the line of a client at home.
TEST(Advice, ToClientsOnLinesOfTheirOwnIsToSendLess) {
  for (const char* line : {"uplink", "downlink"}) {
    EXPECT_EQ(advice_to(("{\"" + std::string(line) + "\": \"6.25 MB/s\"}").c_str()),
              "Largest gain left: waiting for servers, 4.00 ms of 10.0 ms; more steps between "
              "updates (push_every) or fewer bits of them (push_bits, pull_bits) shrink it.");
  }
}

}  // namespace
}  // namespace headway
