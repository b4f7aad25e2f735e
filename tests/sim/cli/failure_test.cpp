#include "sim/cli/failure.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "sim/base/diagnostic.h"
#include "sim/network/routing/routing.h"
#include "sim/scenario/provenance.h"

namespace headway {
namespace {

struct Reported {
  int code;
  std::string text;
};

/// What is reported of an exception while a scenario of that fingerprint was at work.
template <class Exception>
Reported reported(const Exception& exception, const std::string& fingerprint = "") {
  Terminal terminal = Terminal::plain();
  testing::internal::CaptureStderr();
  int code = -1;
  try {
    throw exception;
  } catch (...) {
    code = report_failure(terminal, {"nothing was simulated", fingerprint});
  }
  return {code, testing::internal::GetCapturedStderr()};
}

TEST(Failure, WrongInputIsTwo) {
  Diagnostic problem;
  problem.message = "there is no bread";
  problem.help = "bake some";
  const Reported report = reported(InputError(problem));
  EXPECT_EQ(report.code, 2);
  EXPECT_EQ(report.text,
            "error: there is no bread\n  help: bake some\n\n1 problem; nothing was simulated.\n");
}

TEST(Failure, APairThatTheFabricDoesNotJoinIsWrongInput) {
  Topology topology;
  const VertexId a = topology.add_endpoint("a");
  const VertexId b = topology.add_endpoint("b");
  const Reported report = reported(UnreachableError(topology, a, b));
  EXPECT_EQ(report.code, 2);
  EXPECT_EQ(report.text,
            "error: no path from a to b\n"
            "  help: the forwarding tables lack it, or lead over what is down; `headway topology` "
            "counts such pairs\n\n1 problem; nothing was simulated.\n");
}

TEST(Failure, TheMachineIsThree) {
  const Reported report = reported(EnvironmentError("the oven is cold"));
  EXPECT_EQ(report.code, 3);
  EXPECT_EQ(report.text, "error: the oven is cold\n");
}

TEST(Failure, WantOfMemoryIsTheMachine) {
  const Reported report = reported(std::bad_alloc());
  EXPECT_EQ(report.code, 3);
  EXPECT_EQ(report.text, "error: there is not enough memory\n");
}

TEST(Failure, OurBugIsSeventyAndAsksForAReport) {
  const Reported report = reported(InternalError("graph.cpp:7: a cycle"), "0123456789abcdef");
  EXPECT_EQ(report.code, 70);
  EXPECT_EQ(report.text, "internal error: graph.cpp:7: a cycle\n\nThis is a bug in Headway " +
                             headway_version() +
                             ", not in your input. Please report it with the command line and the "
                             "scenario, 0123456789abcdef, which `headway check --resolve` writes "
                             "out.\n");
}

TEST(Failure, WhatNobodyExpectedIsOurBugToo) {
  const Reported report = reported(std::out_of_range("map::at"));
  EXPECT_EQ(report.code, 70);
  EXPECT_EQ(report.text, "internal error: map::at\n\nThis is a bug in Headway " +
                             headway_version() +
                             ", not in your input. Please report it with the command line.\n");
  EXPECT_EQ(reported(42).code, 70);
}

}  // namespace
}  // namespace headway
