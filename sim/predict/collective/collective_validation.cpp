#include "sim/predict/collective/collective_validation.h"

#include <algorithm>
#include <cmath>

#include "sim/costs/nccl_constants.h"
#include "sim/files/input_files.h"
#include "sim/network/read_topology.h"
#include "sim/programs/flows/nccl_costs.h"

namespace headway {
namespace {

constexpr const char* kBuiltInSweeps = "validation/collective_sweeps.json";

double median_of(std::vector<double> values) {
  if (values.empty()) return 0.0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
}

/// The cluster of a sweep; a diagnostic at its "topology" if there is none or NCCL's costs are
/// unknown there.
std::shared_ptr<const Cluster> cluster_of(const PublishedSweep& sweep, const JsonCursor& element,
                                          InputFiles& files) {
  const auto topology = element.member("topology");
  const auto read = topology ? read_topology(*topology, files, sweep.nodes) : std::nullopt;
  if (!read) return nullptr;
  if (nccl_node_costs(read->cluster->node_type.accelerator) == nullptr) {
    files.diagnostics().add(topology->problem("no costs of NCCL are known on these accelerators"));
    return nullptr;
  }
  if (!knows_nccl_over(read->cluster->node_type.transport.kind)) {
    files.diagnostics().add(topology->problem("nothing is known of NCCL over its transport"));
    return nullptr;
  }
  return read->cluster;
}

ScoredSweep scored(const PublishedSweep& sweep, const Cluster& cluster, int jobs) {
  const CollectiveQuestion question{.kind = sweep.kind,
                                    .algorithm = sweep.algorithm,
                                    .ranks = cluster.accelerators(),
                                    .evidence = {.library = CollectiveLibrary::nccl}};
  std::vector<Bytes> sizes;
  sizes.reserve(sweep.points.size());
  for (const PublishedSweep::Point& point : sweep.points) sizes.push_back(point.size);
  const std::vector<CollectiveRow> rows = collective_table(cluster, question, sizes, {}, jobs);
  ScoredSweep result{.sweep = sweep, .cluster = cluster.name, .ranks = question.ranks};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    result.points.push_back({.published = sweep.points[i].time, .predicted = rows[i]});
  }
  return result;
}

}  // namespace

SizeClass size_class(Bytes size) {
  if (size <= 64_KiB) return SizeClass::latency_bound;
  return size < 16_MiB ? SizeClass::between : SizeClass::bandwidth_bound;
}

PointErrors point_errors(const CollectiveValidation& validation, SizeClass size,
                         const std::function<bool(const ScoredSweep&)>& is_counted) {
  std::vector<double> errors;
  for (const ScoredSweep& sweep : validation.sweeps) {
    if (!is_counted(sweep)) continue;
    for (const ScoredPoint& point : sweep.points) {
      if (point.predicted.doubt != nullptr) continue;
      if (size_class(point.predicted.size) == size) errors.push_back(point.error());
    }
  }
  PointErrors result{.count = static_cast<int>(errors.size()), .bias = median_of(errors)};
  for (double& error : errors) error = std::abs(error);
  result.median = median_of(std::move(errors));
  return result;
}

CollectiveValidation validate_collectives(const std::string& path, int jobs,
                                          Diagnostics& diagnostics) {
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(path.empty() ? kBuiltInSweeps : path, "scenarios");
  diagnostics.throw_if_errors();
  PublishedSweeps published = read_collective_sweeps(*root, diagnostics);
  diagnostics.throw_if_errors();
  std::vector<std::shared_ptr<const Cluster>> clusters;
  const auto list = root->member("sweeps");
  for (std::size_t i = 0; i < published.scored.size(); ++i) {
    clusters.push_back(cluster_of(published.scored[i], list->element(i), files));
  }
  diagnostics.throw_if_errors();
  CollectiveValidation validation{.unscored = std::move(published.unscored)};
  for (std::size_t i = 0; i < published.scored.size(); ++i) {
    validation.sweeps.push_back(scored(published.scored[i], *clusters[i], jobs));
  }
  return validation;
}

}  // namespace headway
