#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "sim/result/json/result_json.h"
#include "sim/sweep/sweep_store.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A short run by default; the long tier asks for 30.
int trials() {
  const char* const wanted = std::getenv("HEADWAY_KILL_TRIALS");
  return wanted == nullptr ? 6 : std::max(1, std::atoi(wanted));
}

/// `headway sweep` of 48 points, some of which do not fit and some are refused, in a process group
/// of its own, nothing of which is printed. Before it stands what starts it, if anything does.
pid_t started_sweep(const std::string& scenario, const fs::path& folder,
                    std::vector<std::string> words = {}) {
  const bool is_crew = !words.empty();
  words.insert(words.end(),
               {HEADWAY_PROGRAM, "sweep", scenario, "--axis", "global_batch=16..192+16", "--axis",
                "pipeline_parallel=1,2,3,4", "-o", folder.string(), "-q"});
  if (!is_crew) words.insert(words.end(), {"-j", "2"});
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
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

enum class Victim { parent, worker, all };

void strike(pid_t process, Victim victim) {
  switch (victim) {
    case Victim::parent:
      kill(process, SIGKILL);
      return;
    case Victim::worker:
      if (const pid_t worker = worker_of(process)) kill(worker, SIGKILL);
      return;
    case Victim::all:
      kill(-process, SIGKILL);
      return;
  }
}

std::vector<std::string> content_of(const fs::path& folder) {
  std::vector<std::string> lines;
  for (const SweepPoint& point : read_sweep(folder, Predictions::read).points) {
    lines.push_back(point.key + point.axes->dump() + std::string(status_name(point.status)) +
                    point.reason + point.scenario->dump() +
                    (point.prediction ? result_json_text(*point.prediction) : ""));
  }
  return lines;
}

TEST(KillTrials, AStoreThatWasKilledAtRandomIsTheUndisturbedOneInTheEnd) {
  const ScratchFolder scratch;
  const std::string scenario = scratch.write("scenario.json", small_scenario(4).dump());
  const auto before = Clock::now();
  ASSERT_EQ(ended(started_sweep(scenario, scratch.path() / "undisturbed")), 0);
  const double whole = std::chrono::duration<double>(Clock::now() - before).count();
  const std::vector<std::string> expected = content_of(scratch.path() / "undisturbed");

  std::mt19937_64 random(20240607);
  int killed = 0;
  for (int round = 0; killed < trials(); ++round) {
    const fs::path folder = scratch.path() / ("disturbed" + std::to_string(round));
    // Each strike comes early enough that some are left for the next.
    for (int strikes = 0; strikes < 4 && killed < trials(); ++strikes, ++killed) {
      const auto victim = static_cast<Victim>(killed % 3);
      const pid_t process = started_sweep(scenario, folder);
      const double share = static_cast<double>(random() >> 11) * 0x1p-53;
      std::this_thread::sleep_for(std::chrono::duration<double>(share * 0.5 * whole));
      strike(process, victim);
      static_cast<void>(ended(process));
    }
    ASSERT_EQ(ended(started_sweep(scenario, folder)), 0);
    EXPECT_EQ(content_of(folder), expected);
  }
}

/// One of its ranks, or what started them, ends at a random moment, and all of them with it.
TEST(KillTrials, ACrewThatWasKilledIsCompletedByTheNextOne) {
  if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  const std::vector<std::string> crew = {"mpirun", "--oversubscribe", "-n", "3"};
  const ScratchFolder scratch;
  const std::string scenario = scratch.write("scenario.json", small_scenario(4).dump());
  const auto before = Clock::now();
  ASSERT_EQ(ended(started_sweep(scenario, scratch.path() / "undisturbed", crew)), 0);
  const double whole = std::chrono::duration<double>(Clock::now() - before).count();
  const std::vector<std::string> expected = content_of(scratch.path() / "undisturbed");
  std::mt19937_64 random(20260101);
  for (int trial = 0; trial < std::max(2, trials() / 5); ++trial) {
    const fs::path folder = scratch.path() / ("disturbed" + std::to_string(trial));
    const pid_t process = started_sweep(scenario, folder, crew);
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    std::this_thread::sleep_for(std::chrono::duration<double>(share * whole));
    strike(process, trial % 2 == 0 ? Victim::parent : Victim::worker);
    static_cast<void>(ended(process));
    // Ranks outlive mpirun by a moment, in which the store is still theirs: exit code 3.
    int status = ended(started_sweep(scenario, folder, crew));
    for (int attempt = 0; attempt < 20 && WEXITSTATUS(status) == 3; ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      status = ended(started_sweep(scenario, folder, crew));
    }
    ASSERT_EQ(status, 0) << trial;
    EXPECT_EQ(content_of(folder), expected) << trial;
  }
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

}  // namespace
}  // namespace headway
