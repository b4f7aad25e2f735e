#include "sim/base/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using Tasks = std::vector<std::function<std::string()>>;
using Status = ChildOutcome::Status;

/// No child of this process is left, running or dead.
void expect_no_child_left() {
  int status = 0;
  EXPECT_EQ(waitpid(-1, &status, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcess, OutputsComeInTheOrderOfTheTasks) {
  Tasks tasks;
  for (int i = 0; i < 200; ++i) {
    tasks.emplace_back([i] {
      if (i % 7 == 0) usleep(3000);  // so that they do not end in order
      return "task " + std::to_string(i);
    });
  }
  for (const int jobs : {1, 3, 16}) {
    const auto outcomes = run_in_children(tasks, jobs);
    ASSERT_EQ(outcomes.size(), tasks.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      ASSERT_EQ(outcomes[i].status, Status::done);
      ASSERT_EQ(outcomes[i].output, "task " + std::to_string(i));
    }
  }
  expect_no_child_left();
}

TEST(ChildProcess, NoTasksNoOutcomes) { EXPECT_TRUE(run_in_children({}, 4).empty()); }

TEST(ChildProcess, AnOutputMayBeLargerThanAPipeHolds) {
  // 20 MB each, two at a time, every byte checked.
  constexpr std::size_t kSize = 20'000'000;
  const auto text = [](char start) {
    std::string bytes(kSize, '\0');
    for (std::size_t i = 0; i < kSize; ++i) bytes[i] = static_cast<char>(start + i % 251);
    return bytes;
  };
  const auto outcomes = run_in_children({[&] { return text('a'); }, [&] { return text('b'); }}, 2);
  EXPECT_TRUE(outcomes[0].output == text('a'));
  EXPECT_TRUE(outcomes[1].output == text('b'));
}

TEST(ChildProcess, AnEmptyOutputIsAnOutput) {
  const auto outcomes = run_in_children({[] { return std::string(); }}, 1);
  EXPECT_EQ(outcomes[0].status, Status::done);
  EXPECT_EQ(outcomes[0].output, "");
}

TEST(ChildProcess, AChildThatIsKilledHarmsNobodyElse) {
  const auto outcomes = run_in_children({[] { return std::string("before"); },
                                         []() -> std::string {
                                           kill(getpid(), SIGKILL);
                                           return "never";
                                         },
                                         [] { return std::string("after"); }},
                                        2);
  EXPECT_EQ(outcomes[0].output, "before");
  EXPECT_EQ(outcomes[2].output, "after");
  EXPECT_EQ(outcomes[1].status, Status::died);
  EXPECT_EQ(outcomes[1].failure, "a simulation process was killed by signal 9 (Killed)");
  EXPECT_THROW(static_cast<void>(output_or_throw(outcomes[1])), InternalError);
  expect_no_child_left();
}

TEST(ChildProcess, AChildThatLeavesByItselfHasNoOutput) {
  const auto outcomes =
      run_in_children({[]() -> std::string { _exit(3); }, []() -> std::string { _exit(0); }}, 2);
  EXPECT_EQ(outcomes[0].status, Status::died);
  EXPECT_EQ(outcomes[0].failure, "a simulation process exited with status 3");
  EXPECT_EQ(outcomes[1].status, Status::died);
}

TEST(ChildProcess, AnExceptionKeepsItsKindAndText) {
  const auto outcomes =
      run_in_children({[]() -> std::string { throw EnvironmentError("no such device"); },
                       []() -> std::string { throw InternalError("a cycle"); },
                       []() -> std::string { throw std::runtime_error("anything else"); },
                       []() -> std::string { throw InputError(Diagnostic{.message = "no unit"}); }},
                      3);
  EXPECT_EQ(outcomes[0].status, Status::environment_error);
  EXPECT_EQ(outcomes[1].status, Status::internal_error);
  EXPECT_EQ(outcomes[2].status, Status::internal_error);
  EXPECT_EQ(outcomes[3].status, Status::input_error);
  EXPECT_THROW(static_cast<void>(output_or_throw(outcomes[3])), InputError);
  try {
    static_cast<void>(output_or_throw(outcomes[0]));
    FAIL() << "an environment error was lost";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "no such device");
  }
  try {
    static_cast<void>(output_or_throw(outcomes[1]));
    FAIL() << "an internal error was lost";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "a cycle");
  }
  EXPECT_EQ(output_or_throw({.status = Status::done, .output = "text"}), "text");
}

TEST(ChildProcess, WrongInputKeepsAllThatIsToldOfIt) {
  const auto outcomes = run_in_children(
      {[]() -> std::string {
        throw InputError(std::vector<Diagnostic>{
            {.message = "no unit",
             .location =
                 {.file = "my.json", .line = 10, .column = 24, .length = 2, .line_text = "a: 25"},
             .pointer = "/strategy/gradient_bucket",
             .label = "25",
             .related =
                 {{.location = {.file = "model.json"}, .pointer = "/layers", .message = "is 4"}},
             .help = "write \"25 MiB\""},
            {.message = "too many"}});
      }},
      1);
  EXPECT_EQ(outcomes[0].failure, "my.json:10:24: no unit (and 1 more)");
  try {
    static_cast<void>(output_or_throw(outcomes[0]));
    FAIL() << "an input error was lost";
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().at(0);
    EXPECT_EQ(first.message, "no unit");
    EXPECT_EQ(first.pointer, "/strategy/gradient_bucket");
    EXPECT_EQ(first.label, "25");
    EXPECT_EQ(first.help, "write \"25 MiB\"");
    EXPECT_EQ(first.location.file, "my.json");
    EXPECT_EQ(first.location.line, 10);
    EXPECT_EQ(first.location.column, 24);
    EXPECT_EQ(first.location.length, 2);
    EXPECT_EQ(first.location.line_text, "a: 25");
    EXPECT_EQ(first.related.at(0).location.file, "model.json");
    EXPECT_EQ(first.related.at(0).pointer, "/layers");
    EXPECT_EQ(first.related.at(0).message, "is 4");
    EXPECT_EQ(error.diagnostics().at(1).message, "too many");
  }
}

TEST(ChildProcess, TheCallerHearsOfEachTaskOnce) {
  Tasks tasks(20, [] { return std::string("done"); });
  std::vector<int> heard(tasks.size(), 0);
  static_cast<void>(
      run_in_children(tasks, 4, [&](std::size_t task, ChildOutcome&) { ++heard[task]; }));
  EXPECT_THAT(heard, testing::Each(1));
}

TEST(ChildProcess, ChildrenAreGoneWhenTheCallerThrows) {
  const Tasks tasks = {[] { return std::string("quick"); },
                       [] {
                         sleep(600);
                         return std::string("slow");
                       }};
  EXPECT_THROW(
      static_cast<void>(run_in_children(
          tasks, 2, [](std::size_t, ChildOutcome&) { throw EnvironmentError("disk full"); })),
      EnvironmentError);
  expect_no_child_left();
}

TEST(ChildProcess, WhatATaskChangesStaysInItsChild) {
  int value = 1;
  static_cast<void>(run_in_children({[&] {
                                      value = 2;
                                      return std::string();
                                    }},
                                    1));
  EXPECT_EQ(value, 1);
}

int depth_reached(int depth) {
  volatile char frame[4096] = {};
  frame[0] = 1;
  return depth == 0 ? frame[0] : depth_reached(depth - 1) + frame[0];
}

TEST(ChildProcess, ATaskHasADeepStack) {
  // 50,000 frames of 4 KiB, 200 MB: SimGrid recurses once for each link that is coupled.
  const auto outcomes = run_in_children({[] { return std::to_string(depth_reached(50'000)); }}, 1);
  EXPECT_EQ(outcomes[0].output, "50001");
}

TEST(ChildProcess, AChildTakesManyTasksUnlessAskedNotTo) {
  const Tasks tasks(6, [] { return std::to_string(getpid()); });
  const auto processes = [&](ChildLife life) {
    std::set<std::string> different;
    for (const ChildOutcome& outcome : run_in_children(tasks, 1, {}, life)) {
      different.insert(outcome.output);
    }
    return different.size();
  };
  EXPECT_EQ(processes(ChildLife::many_tasks), 1U);
  EXPECT_EQ(processes(ChildLife::one_task), 6U);
}

TEST(ChildProcess, AChildKnowsThatItIsOne) {
  EXPECT_FALSE(in_child());
  EXPECT_EQ(run_in_children({[] { return std::to_string(in_child()); }}, 1)[0].output, "1");
}

TEST(ChildProcess, ATaskThatNeedsAFreshChildGetsOne) {
  static int done_here = 0;  // in each child a copy of its own
  Tasks tasks(5, [] {
    if (done_here > 0) throw FreshChildNeeded();
    return std::string("first");
  });
  tasks[1] = tasks[3] = [] { return std::to_string(++done_here); };
  std::vector<int> heard(tasks.size(), 0);
  const auto outcomes =
      run_in_children(tasks, 1, [&](std::size_t task, ChildOutcome&) { ++heard[task]; });
  for (const std::size_t i : {0U, 2U, 4U}) EXPECT_EQ(outcomes[i].output, "first") << i;
  for (const std::size_t i : {1U, 3U}) EXPECT_EQ(outcomes[i].output, "1") << i;
  EXPECT_THAT(heard, testing::Each(1));
  // One that is never content is no endless loop.
  const auto stubborn =
      run_in_children({[]() -> std::string { throw FreshChildNeeded(); }}, 1).front();
  EXPECT_EQ(stubborn.status, Status::internal_error);
  expect_no_child_left();
}

TEST(ChildProcess, OneAtATimeIsTheLeast) {
  EXPECT_THROW(static_cast<void>(run_in_children({}, 0)), InternalError);
}

}  // namespace
}  // namespace headway
