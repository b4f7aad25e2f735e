#include "sim/scenario/read_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_objects.h"
#include "sim/jobs/read_strategy.h"

namespace headway {
namespace {

/// The name by which results call the scenario's own job.
constexpr std::string_view kOwnName = "this job";

class JobReader {
 public:
  JobReader(const JsonCursor& part, const OwnJob& own, InputFiles& files)
      : reader_(part, files.diagnostics()), own_(own), files_(files) {}

  /// Nothing if there is an error.
  std::optional<NeighbourJob> read() {
    const std::size_t problems = diagnostics().errors();
    job_.name = reader_.text("name");
    std::optional<ReadModel> model = own_.model;
    if (const auto part = reader_.part("model")) model = read_model(*part, files_);
    job_.first_node =
        static_cast<int>(reader_.integer("first_node", between(0.0, own_.cluster.nodes - 1.0)));
    const std::optional<JsonCursor> strategy =
        reader_.required_part("strategy", R"({"preset": "megatron"})");
    read_objects(reader_, "sizes", [&](ObjectReader& size) { read_size(size, model, strategy); });
    read_reading();
    const bool is_never_there = diagnostics().errors() == problems && job_.sizes.empty();
    if (!reader_.has("sizes") || is_never_there) {
      reader_.report("sizes", "nothing says when the job is there, and on how many nodes", "",
                     R"(write "sizes": [{"at": "0 s", "nodes": 4}])");
    }
    if (model) {
      job_.model = model->model;
      reader_.resolve("model", model->resolved);
    }
    if (diagnostics().errors() != problems) return std::nullopt;
    return std::move(job_);
  }

  [[nodiscard]] nlohmann::json resolved() { return reader_.finish(); }

 private:
  Diagnostics& diagnostics() { return files_.diagnostics(); }

  void read_reading() {
    const std::optional<JsonCursor> part = reader_.part("data_loading");
    if (!part) return;
    ObjectReader reader(*part, diagnostics());
    sample_reading_fields().read(reader, job_.reading.emplace());
    reader_.resolve("data_loading", reader.finish());
    if (own_.has_store) return;
    reader_.report("data_loading", "the scenario has no storage that this job could share", "",
                   "give the scenario a data_loading too, which says what the storage can do");
  }

  void read_size(ObjectReader& reader, const std::optional<ReadModel>& model,
                 const std::optional<JsonCursor>& strategy) {
    const double at = reader.quantity<Seconds>("at", at_least(0.0)).count();
    const int most = own_.cluster.nodes - job_.first_node;
    const int nodes = static_cast<int>(reader.integer("nodes", between(0.0, most)));
    if (changed_ && at <= *changed_) {
      reader.report("at", "sizes follow each other in time",
                    fmt::format("the one before is from {} s on", *changed_),
                    "put them in the order of their times, each later than the one before");
      return;
    }
    changed_ = at;
    if (!job_.sizes.empty()) job_.sizes.back().to = std::min(job_.sizes.back().to, at);
    if (nodes == 0 || !model || !strategy || is_wrong_) return;
    const int accelerators = nodes * own_.cluster.node_type.accelerators;
    const auto read = read_strategy(*strategy, *model, accelerators, files_);
    is_wrong_ = !read;
    if (!read) return;
    own_.check_costs(model->model, *read);
    // What the accelerators leave differs from size to size.
    nlohmann::json common = read->resolved;
    common.erase("data_parallel");
    reader_.resolve("strategy", std::move(common));
    job_.sizes.push_back(
        {.from = at, .nodes = nodes, .strategy = std::make_shared<const Strategy>(read->strategy)});
  }

  ObjectReader reader_;
  const OwnJob& own_;
  InputFiles& files_;
  NeighbourJob job_;
  std::optional<double> changed_;  ///< when the last of the sizes read so far begins
  bool is_wrong_ = false;          ///< the strategy, at a size, which is told once
};

/// Where the nodes of two jobs overlap while both are there.
bool collide(const NeighbourJob& a, const NeighbourJob::Size& size_a, const NeighbourJob& b,
             const NeighbourJob::Size& size_b) {
  return size_a.from < size_b.to && size_b.from < size_a.to &&
         a.first_node < b.first_node + size_b.nodes && b.first_node < a.first_node + size_a.nodes;
}

/// The first job of which a node is taken.
const NeighbourJob* taken_by(const NeighbourJob& job, const std::vector<NeighbourJob>& others) {
  for (const NeighbourJob& other : others) {
    for (const NeighbourJob::Size& theirs : other.sizes) {
      for (const NeighbourJob::Size& size : job.sizes) {
        if (collide(job, size, other, theirs)) return &other;
      }
    }
  }
  return nullptr;
}

}  // namespace

std::vector<NeighbourJob> read_jobs(ObjectReader& scenario, const OwnJob& own, InputFiles& files) {
  std::vector<NeighbourJob> jobs;
  NeighbourJob self{.name = std::string(kOwnName)};
  self.sizes.push_back({.nodes = own.nodes});
  jobs.push_back(std::move(self));
  nlohmann::json resolved = nlohmann::json::array();
  const std::vector<JsonCursor> elements = scenario.elements("jobs");
  for (const JsonCursor& element : elements) {
    JobReader reader(element, own, files);
    auto job = reader.read();
    resolved.push_back(reader.resolved());
    if (!job) continue;
    if (std::ranges::find(jobs, job->name, &NeighbourJob::name) != jobs.end()) {
      files.diagnostics().add(
          element.problem(fmt::format("two jobs are called {}", in_quotes(job->name)), "",
                          "give this one a name of its own"));
    } else if (const NeighbourJob* other = taken_by(*job, jobs)) {
      files.diagnostics().add(
          element.problem(fmt::format("a node of this job is one of {}", in_quotes(other->name)),
                          fmt::format("that one begins at node {}", other->first_node),
                          "choose another first_node; cluster.job_nodes says how many nodes the "
                          "scenario's own job takes"));
    }
    jobs.push_back(std::move(*job));
  }
  if (!elements.empty()) scenario.resolve("jobs", resolved);
  jobs.erase(jobs.begin());
  return jobs;
}

}  // namespace headway
