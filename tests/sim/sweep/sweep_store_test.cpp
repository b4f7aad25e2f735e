#include "sim/sweep/sweep_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/sweep/stored_sweep.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using nlohmann::json;

SweepHeader header() {
  return {.scenario = "s.json",
          .inputs = "1234",
          .headway = "0.1.0",
          .axes = nlohmann::json::parse(R"([{"name": "a", "values": [2, 10, 1]}])"),
          .command_line = "headway sweep s.json"};
}

SweepPoint point(int a, PointStatus status = PointStatus::done) {
  SweepPoint point{.key = "key" + std::to_string(a),
                   .axes = nlohmann::ordered_json({{"a", a}}),
                   .status = status};
  if (status != PointStatus::done) point.reason = "because";
  point.scenario = nlohmann::json({{"name", a}});
  Prediction prediction;
  prediction.question.accelerators = 8 * a;
  point.prediction = std::make_shared<const Prediction>(std::move(prediction));
  return point;
}

/// A point that took a fiftieth of a second.
PointRow quick(int a) {
  PointRow row = row_of(point(a));
  row.work = Seconds(0.02);
  return row;
}

std::vector<std::string> keys_in(const ScratchFolder& folder) {
  std::vector<std::string> keys;
  for (const SweepPoint& stored : read_sweep(folder.path(), Predictions::left_out).points)
    keys.push_back(stored.key);
  return keys;
}

std::string problem_with(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

TEST(SweepStore, WhatWasPutIsReadInTheOrderOfTheAxes) {
  const ScratchFolder scratch;
  SweepStore store(scratch.path(), header());
  for (const int a : {1, 10, 2}) store.put(row_of(point(a)));
  store.keep();
  EXPECT_THAT(keys_in(scratch), testing::ElementsAre("key2", "key10", "key1"));
  const SweepContent content = read_sweep(scratch.path() / kStoreFile, Predictions::read);
  EXPECT_EQ(content.header.command_line, "headway sweep s.json");
  EXPECT_EQ(content.points[1].prediction->question.accelerators, 80);
  // "gpus", and the time of a job that was not simulated
  EXPECT_EQ(content.points[1].numbers[0], 80.0);
  EXPECT_EQ(content.points[1].numbers[1], std::nullopt);
  EXPECT_EQ(content.points[1].scenario->at("name"), 10);
}

TEST(SweepStore, APointThatFailedGivesWayAndIsNotSettled) {
  const ScratchFolder scratch;
  SweepStore store(scratch.path(), header());
  SweepPoint failed = point(2, PointStatus::failed);
  failed.key = "of its axes";
  store.put(row_of(failed));
  store.put(row_of(point(1, PointStatus::refused)));
  const SettledPoints settled = store.settled();
  EXPECT_EQ(settled.axes.size(), 1u);
  EXPECT_TRUE(settled.axes.contains(R"({"a":1})"));
  EXPECT_EQ(settled.keys.size(), 1u);
  EXPECT_TRUE(settled.keys.contains("key1"));
  EXPECT_FALSE(store.has_simulated());
  store.put(row_of(point(2)));
  EXPECT_TRUE(store.has_simulated());
  store.keep();
  EXPECT_THAT(keys_in(scratch), testing::ElementsAre("key2", "key1"));
}

TEST(SweepStore, OfPointsThatAreTheSameJobOneStaysWhicheverComesFirst) {
  for (const bool first_first : {true, false}) {
    const ScratchFolder scratch;
    SweepStore store(scratch.path(), header());
    SweepPoint first = point(1);
    SweepPoint second = point(2);
    first.key = second.key = "same";
    store.put(row_of(first_first ? first : second));
    store.put(row_of(first_first ? second : first));
    store.keep();
    const SweepContent content = read_sweep(scratch.path(), Predictions::left_out);
    ASSERT_EQ(content.points.size(), 1u);
    EXPECT_EQ(content.points.front().axes->at("a"), 1);
  }
}

TEST(SweepStore, WhatWasPutIsKeptAtTheEndWithoutAsking) {
  const ScratchFolder scratch;
  {
    SweepStore store(scratch.path(), header());
    EXPECT_TRUE(store.put(quick(2)));  // the first at once
    EXPECT_FALSE(store.put(quick(10)));
    EXPECT_THAT(keys_in(scratch), testing::ElementsAre("key2"));
    EXPECT_EQ(store.settled().keys.size(), 2u);  // whoever writes sees both
  }
  EXPECT_THAT(keys_in(scratch), testing::ElementsAre("key2", "key10"));
}

TEST(SweepStore, NoMoreThanATwentiethOfASecondOfWorkIsAtStake) {
  const ScratchFolder scratch;
  SweepStore store(scratch.path(), header());
  EXPECT_TRUE(store.put(quick(2)));
  EXPECT_FALSE(store.put(quick(2)));  // 0.02 s
  EXPECT_FALSE(store.put(quick(2)));  // 0.04
  EXPECT_TRUE(store.put(quick(2)));   // 0.06
  EXPECT_FALSE(store.put(quick(2)));
  EXPECT_TRUE(store.put(row_of(point(10))));  // nobody knows what it took
  EXPECT_THAT(keys_in(scratch), testing::ElementsAre("key2", "key10"));
}

TEST(SweepStore, PointsAreReadAgainAsTheyWereWhateverCameBeforeThem) {
  const ScratchFolder scratch;
  std::vector<std::string> put;
  {
    SweepStore store(scratch.path(), header());
    // The first that has a scenario, or a result, is what others are packed against.
    store.put(row_of(point(2, PointStatus::failed)));
    for (const int a : {1, 10}) {
      SweepPoint long_one = point(a);
      Prediction prediction = *long_one.prediction;
      prediction.critical_rank = std::string(static_cast<std::size_t>(30'000 * a), 'x');
      long_one.prediction = std::make_shared<const Prediction>(std::move(prediction));
      const PointRow row = row_of(long_one);
      put.push_back(row.scenario + row.result);
      store.put(row);
    }
  }
  {
    SweepStore store(scratch.path(), header());  // a later run packs against the same
    SweepPoint other = point(10);
    other.key = "again";
    const PointRow row = row_of(other);
    put.back() = row.scenario + row.result;
    store.put(row);
  }
  std::vector<std::string> read;
  for (const SweepPoint& stored : read_sweep(scratch.path(), Predictions::read).points) {
    const PointRow row = row_of(stored);
    if (stored.status == PointStatus::done) read.push_back(row.scenario + row.result);
  }
  EXPECT_THAT(read, testing::UnorderedElementsAreArray(put));
}

TEST(SweepStore, APointThatDoesNotUnpackIsDamage) {
  const ScratchFolder scratch;
  { SweepStore(scratch.path(), header()).put(row_of(point(2))); }
  sqlite3* database = nullptr;
  const std::string file = (scratch.path() / kStoreFile).string();
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "UPDATE points SET result = x'00ff'", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  EXPECT_EQ(problem_with([&] { static_cast<void>(read_sweep(file, Predictions::read)); }),
            file + " is damaged: it holds what no sweep writes");
  EXPECT_EQ(read_sweep(file, Predictions::left_out).points.size(), 1u);  // its numbers are good
}

TEST(StoredSweep, GivesPointsInTheOrderOfTheAxesWhoeverIsAskedForFirst) {
  const ScratchFolder scratch;
  {
    SweepStore store(scratch.path(), header());
    for (const int a : {1, 10, 2}) store.put(row_of(point(a)));
  }
  const StoredSweep stored(scratch.path());
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_EQ(stored.row(2).axes, R"({"a":1})");
  EXPECT_EQ(stored.row(0).axes, R"({"a":2})");
  EXPECT_EQ(stored.row(1).axes, R"({"a":10})");
  EXPECT_EQ(stored.row(1).key, "key10");
  EXPECT_EQ(stored.row(2).numbers.front(), 8.0);  // gpus
  Diagnostics diagnostics;
  EXPECT_EQ(stored.point(1, Predictions::left_out, diagnostics).prediction, nullptr);
  const SweepPoint read = stored.point(1, Predictions::read, diagnostics);
  ASSERT_NE(read.prediction, nullptr);
  EXPECT_EQ(read.prediction->question.accelerators, 80);
  EXPECT_FALSE(diagnostics.has_errors());
}

TEST(StoredSweep, APointWithoutAnAxisIsDamage) {
  const ScratchFolder scratch;
  { SweepStore(scratch.path(), header()).put(row_of(point(2))); }
  const std::string file = (scratch.path() / kStoreFile).string();
  for (const char* const axes : {"{}", "[2]", "no JSON"}) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    const std::string sql = std::string("UPDATE points SET axes = '") + axes + "'";
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    EXPECT_EQ(problem_with([&] { const StoredSweep stored(file); }),
              file + " is damaged: it holds what no sweep writes");
  }
}

TEST(SweepStore, AxesMayGrow) {
  const ScratchFolder scratch;
  { SweepStore(scratch.path(), header()).put(row_of(point(10))); }
  SweepHeader grown = header();
  (*grown.axes)[0]["values"] = {10, 20};
  {
    SweepStore store(scratch.path(), grown);
    store.put(row_of(point(20)));
  }
  EXPECT_EQ(read_sweep(scratch.path(), Predictions::left_out).header.axes->dump(),
            R"([{"name":"a","values":[2,10,1,20]}])");
  EXPECT_THAT(keys_in(scratch), testing::ElementsAre("key10", "key20"));
}

TEST(SweepStore, OtherInputsVersionsAndAxesAreRefused) {
  const ScratchFolder scratch;
  { SweepStore store(scratch.path(), header()); }
  const std::string file = (scratch.path() / kStoreFile).string();
  SweepHeader other = header();
  other.inputs = "5678";
  EXPECT_EQ(problem_with([&] { SweepStore store(scratch.path(), other); }),
            file + " holds points of another scenario, or of this one as it was before: s.json");
  other = header();
  other.headway = "0.2.0";
  EXPECT_EQ(problem_with([&] { SweepStore store(scratch.path(), other); }),
            file + " was made by Headway 0.1.0, this is 0.2.0");
  other = header();
  (*other.axes)[0]["name"] = "b";
  EXPECT_EQ(problem_with([&] { SweepStore store(scratch.path(), other); }),
            file + " has other axes: headway sweep s.json");
}

TEST(SweepStore, WhatIsNoStoreIsRefused) {
  const ScratchFolder scratch;
  EXPECT_EQ(
      problem_with([&] { static_cast<void>(read_sweep(scratch.path(), Predictions::left_out)); }),
      "there is no store " + (scratch.path() / kStoreFile).string());
  const std::string empty = scratch.write("empty.db", "");
  EXPECT_EQ(problem_with([&] { static_cast<void>(read_sweep(empty, Predictions::left_out)); }),
            empty + " is no store of a sweep");
  EXPECT_THROW(static_cast<void>(read_sweep(scratch.write("text.db", "not a database at all"),
                                            Predictions::left_out)),
               EnvironmentError);
}

TEST(SweepStore, ASecondWriterIsKeptOut) {
  const ScratchFolder scratch;
  const SweepStore store(scratch.path(), header());
  const pid_t child = fork();
  if (child == 0) {
    try {
      const SweepStore second(scratch.path(), header());
      _exit(0);
    } catch (const EnvironmentError&) {
      _exit(3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace headway
