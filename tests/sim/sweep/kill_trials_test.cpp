#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <thread>

#include "sim/result/json/result_json.h"
#include "sim/sweep/stored_sweep.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

using Words = std::vector<std::string>;

/// A short run by default; the long tier asks for 500.
int trials() {
  const char* const wanted = std::getenv("HEADWAY_KILL_TRIALS");
  return wanted == nullptr ? 6 : std::max(1, std::atoi(wanted));
}

/// `headway sweep` of 48 points, some of which do not fit and some are refused, in a process group
/// of its own; what it says goes into `folder`.log. Before it stands what starts it, if anything.
pid_t started_sweep(const std::string& scenario, const fs::path& folder, Words words) {
  const bool is_crew = !words.empty();
  words.insert(words.end(),
               {HEADWAY_PROGRAM, "sweep", scenario, "--axis", "global_batch=16..192+16", "--axis",
                "pipeline_parallel=1,2,3,4", "-o", folder.string(), "-q"});
  if (!is_crew) words.insert(words.end(), {"-j", "2"});
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string log = folder.string() + ".log";
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    const int said = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    execvp(arguments.front(), arguments.data());
    _exit(127);
  }
  setpgid(process, process);
  return process;
}

int ended(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

/// One of the children that do the points; 0 if there is none at the moment.
pid_t worker_of(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  pid_t child = 0;
  children >> child;
  return child;
}

/// Whether any process that it has started has not ended.
bool has_living_children(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (std::string child; children >> child;) {
    std::ifstream file("/proc/" + child + "/stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t name_end = text.rfind(')');
    if (name_end != std::string::npos && text.substr(name_end).find(") Z") != 0) return true;
  }
  return false;
}

/// Waits for the end of what started ranks of which one was killed. Open MPI's mpirun may then wait
/// for ever for a lock of its own (PMIx_server_finalize): where none of its ranks has been there
/// for a while, it is killed as well. Ranks that go on without the one fail.
void ended_with_its_ranks(pid_t process) {
  constexpr auto kMoment = std::chrono::milliseconds(20);
  auto last_seen = Clock::now();
  const auto latest = last_seen + std::chrono::minutes(5);
  for (int status = 0; waitpid(process, &status, WNOHANG) == 0;) {
    const auto now = Clock::now();
    if (has_living_children(process)) last_seen = now;
    EXPECT_LT(now, latest) << "ranks outlive one that was killed";
    if (now - last_seen > std::chrono::seconds(15) || now > latest) {
      kill(-process, SIGKILL);
      static_cast<void>(ended(process));
      return;
    }
    std::this_thread::sleep_for(kMoment);
  }
}

enum class Victim { parent, worker, all };

/// Kills it at this moment and waits for its end. Returns whether there was anything to kill.
bool struck(pid_t process, Victim victim) {
  bool has_hit = false;
  if (victim == Victim::worker) {
    const pid_t worker = worker_of(process);
    has_hit = worker != 0 && kill(worker, SIGKILL) == 0;
    ended_with_its_ranks(process);
    return has_hit;
  }
  kill(victim == Victim::all ? -process : process, SIGKILL);
  return WIFSIGNALED(ended(process));
}

/// Ranks outlive what started them by a moment, in which the store is still theirs. Returns whether
/// all that were given this folder are gone within a minute.
bool are_gone(const fs::path& folder) {
  const auto is_left = [&] {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/proc", none)) {
      std::ifstream file(entry.path() / "cmdline");
      for (std::string word; std::getline(file, word, '\0');) {
        if (word == folder) return true;
      }
    }
    return false;
  };
  const auto latest = Clock::now() + std::chrono::minutes(1);
  while (is_left()) {
    if (Clock::now() > latest) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

Words content_of(const fs::path& folder) {
  Words lines;
  for (const SweepPoint& point : read_sweep(folder, Predictions::read).points) {
    lines.push_back(point.key + point.axes->dump() + std::string(word_of(point.status)) +
                    point.reason + point.scenario->dump() +
                    (point.prediction ? result_json_text(*point.prediction) : ""));
  }
  return lines;
}

/// Sweeps that are killed again and again before they go through. A strike after the end is none.
void strike_at_random(const Words& starter, const std::vector<Victim>& victims, int wanted) {
  const ScratchFolder scratch;
  const std::string scenario = scratch.write("scenario.json", small_scenario(4).dump());
  const auto started = [&](const fs::path& folder) {
    return started_sweep(scenario, folder, starter);
  };
  const auto said = [](const fs::path& folder) {
    std::ifstream log(folder.string() + ".log");
    return std::string{std::istreambuf_iterator<char>(log), {}};
  };
  const auto before = Clock::now();
  const fs::path undisturbed = scratch.path() / "undisturbed";
  ASSERT_EQ(ended(started(undisturbed)), 0) << said(undisturbed);
  const double whole = std::chrono::duration<double>(Clock::now() - before).count();
  const Words expected = content_of(undisturbed);
  ASSERT_EQ(expected.size(), 48U);

  std::mt19937_64 random(20240607);
  int killed = 0;
  int stores = 0;
  for (; killed < wanted; ++stores) {
    ASSERT_LT(stores, 10 * wanted) << "hardly any strike hits";
    const fs::path folder = scratch.path() / ("disturbed" + std::to_string(stores));
    // Each comes early enough that something is left for the next.
    for (int strikes = 0; strikes < 4 && killed < wanted; ++strikes) {
      const Victim victim = victims[static_cast<std::size_t>(random() % victims.size())];
      const pid_t process = started(folder);
      const double share = static_cast<double>(random() >> 11) * 0x1p-53;
      std::this_thread::sleep_for(std::chrono::duration<double>(share * 0.5 * whole));
      killed += struck(process, victim) ? 1 : 0;
      ASSERT_TRUE(are_gone(folder));
    }
    ASSERT_EQ(ended(started(folder)), 0) << said(folder);
    EXPECT_EQ(content_of(folder), expected) << "store " << stores;
  }
  std::cout << killed << " kills of sweeps into " << stores << " stores\n";
}

TEST(KillTrials, AStoreThatWasKilledAtRandomIsTheUndisturbedOneInTheEnd) {
  strike_at_random({}, {Victim::parent, Victim::worker, Victim::all}, trials());
}

/// One of its ranks, or what started them, ends at a random moment, and all of them with it.
TEST(KillTrials, ACrewThatWasKilledIsCompletedByTheNextOne) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  strike_at_random({"mpirun", "--oversubscribe", "-n", "3"}, {Victim::parent, Victim::worker},
                   std::max(2, trials() / 5));
}

TEST(MpiCrew, FindsTheSamePointsAsOneProcess) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  const ScratchFolder scratch;
  const std::string scenario = scratch.write("scenario.json", small_scenario(4).dump());
  const std::string sweep = std::string(HEADWAY_PROGRAM) + " sweep " + scenario +
                            " --axis micro_batch=1,2,4 --axis pipeline_parallel=1,2,3 -q -o ";
  const auto folder = [&](const char* name) { return (scratch.path() / name).string(); };
  ASSERT_EQ(std::system((sweep + folder("one") + " -j 1 > /dev/null").c_str()), 0);
  const std::string crew =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "mpirun --oversubscribe -n 4 " +
      sweep;
  ASSERT_EQ(std::system((crew + folder("crew") + " > /dev/null 2>&1").c_str()), 0);
  EXPECT_EQ(content_of(folder("crew")), content_of(folder("one")));
  // Wrong input ends all of them, and is told once.
  const std::string wrong =
      crew + folder("wrong") + " --axis nothing=1 > " + folder("out") + " 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(wrong.c_str())), 2);
  EXPECT_EQ(std::system(("test $(grep -c 'no field is called' " + folder("out") + ") = 1").c_str()),
            0);
}

TEST(MpiCrew, ValidatesTheSameRowsAsOneProcess) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  const ScratchFolder scratch;
  const auto file = [&](const char* name) { return (scratch.path() / name).string(); };
  const std::string validate =
      std::string(HEADWAY_PROGRAM) + " validate --gpu V100 --ablate launch -q --json";
  const std::string crew =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 ";
  ASSERT_EQ(std::system((validate + " -j 1 > " + file("one")).c_str()), 0);
  ASSERT_EQ(std::system((crew + validate + " > " + file("crew") + " 2>" + file("said")).c_str()),
            0);
  EXPECT_EQ(std::system(("cmp " + file("one") + " " + file("crew")).c_str()), 0);
  EXPECT_EQ(std::system(("grep -q V100 " + file("crew")).c_str()), 0);
  // Wrong input ends all of them, and is told once.
  const std::string wrong = crew + validate + " --id nobody > " + file("out") + " 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(wrong.c_str())), 2);
  EXPECT_EQ(std::system(("test $(grep -c '^error' " + file("out") + ") = 1").c_str()), 0);
}

/// The same answer of one process and of three, and problems told once.
void expect_the_same_of_a_crew(const std::string& command, const std::string& wrong_option) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  const ScratchFolder scratch;
  const auto file = [&](const char* name) { return (scratch.path() / name).string(); };
  const std::string answer = std::string(HEADWAY_PROGRAM) + " " + command + " -q --json";
  const std::string crew =
      "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 ";
  ASSERT_EQ(std::system((answer + " -j 1 > " + file("one")).c_str()), 0);
  ASSERT_EQ(std::system((crew + answer + " > " + file("crew") + " 2>" + file("said")).c_str()), 0);
  EXPECT_EQ(std::system(("cmp " + file("one") + " " + file("crew")).c_str()), 0);
  const std::string wrong = crew + answer + " " + wrong_option + " > " + file("out") + " 2>&1";
  EXPECT_EQ(WEXITSTATUS(std::system(wrong.c_str())), 2);
  EXPECT_EQ(std::system(("test $(grep -c '^error' " + file("out") + ") = 1").c_str()), 0);
}

/// Ten draws of the job and of its reference.
TEST(MpiCrew, DrawsTheSameReplicasAsOneProcess) {
  expect_the_same_of_a_crew(
      "simulate llama3_8b_64 --replicas 10 --reference 32 --set "
      "'/perturbations={\"device_spread\": 0.02, \"operation_spread\": 0.02}'",
      "--set /strategy/nothing=1");
}

/// Leaders that are drawn once, and those that are drawn again; sizes of a cluster.
TEST(MpiCrew, PlansTheSameStrategyAsOneProcess) {
  const std::string job =
      " --keep context_parallel --keep schedule --keep micro_batch --replicas 3 --set "
      "'/perturbations={\"device_spread\": 0.02}'";
  expect_the_same_of_a_crew("plan llama3_8b_64 --set /cluster/nodes=2" + job, "--keep nothing");
}

}  // namespace
}  // namespace headway
