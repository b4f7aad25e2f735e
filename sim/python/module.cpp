// The part of the module `headway` that is not Python: documents as JSON texts, and columns.
#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "sim/files/input_files.h"
#include "sim/python/calls.h"
#include "sim/python/python_problems.h"
#include "sim/scenario/provenance.h"
#include "sim/sweep/point_columns.h"

namespace headway {
namespace {

namespace py = pybind11;

/// Runs `work` without Python's lock, so that other threads go on; one call at a time, because
/// limits, held files and children are the process's. Then tells of warnings.
template <class Work>
auto called(const Work& work) {
  Diagnostics diagnostics;
  std::invoke_result_t<Work, Diagnostics&> result;
  {
    const py::gil_scoped_release others_go_on;
    static std::mutex in_turn;
    const std::lock_guard turn(in_turn);
    result = work(diagnostics);
  }
  warn_of(diagnostics);
  return result;
}

/// Ctrl-C ends what takes long.
void end_on_signal() {
  const py::gil_scoped_acquire python;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

std::string resolve(const ScenarioSource& source) {
  return called([&](Diagnostics& diagnostics) { return resolved_text(source, diagnostics); });
}

std::string simulate_call(const ScenarioSource& source, int jobs, std::optional<int> reference,
                          bool what_if, bool even_if_it_does_not_fit) {
  const SimulateCall call{jobs, reference, what_if, even_if_it_does_not_fit};
  return called(
      [&](Diagnostics& diagnostics) { return simulated_text(source, call, diagnostics); });
}

py::object number_of(const std::optional<double>& number) {
  if (!number) return py::none();
  return py::float_(*number);
}

/// A column for each axis, with the values as JSON, then what became of the points and their
/// numbers. An axis that has the name of a number has its values already.
py::dict columns_of(const SweepContent& content) {
  py::dict axes;
  for (const nlohmann::json& axis : *content.header.axes) {
    const auto name = axis.at("name").get<std::string>();
    py::list values;
    for (const SweepPoint& point : content.points) values.append(point.axes->at(name).dump());
    axes[py::str(name)] = std::move(values);
  }
  py::list statuses;
  py::list reasons;
  for (const SweepPoint& point : content.points) {
    statuses.append(std::string(word_of(point.status)));
    reasons.append(py::str(point.reason));
  }
  py::dict numbers;
  for (std::size_t i = 0; i < point_columns().size(); ++i) {
    const py::str name{std::string(point_columns()[i].name)};
    if (axes.contains(name)) continue;
    py::list values;
    for (const SweepPoint& point : content.points) values.append(number_of(point.numbers.at(i)));
    numbers[name] = std::move(values);
  }
  py::dict columns;
  columns["axes"] = std::move(axes);
  columns["status"] = std::move(statuses);
  columns["reason"] = std::move(reasons);
  columns["numbers"] = std::move(numbers);
  return columns;
}

py::dict sweep_call(const ScenarioSource& source, std::vector<std::string> axes, std::string folder,
                    int jobs) {
  const SweepCall call{std::move(axes), std::move(folder), jobs, end_on_signal};
  return columns_of(
      called([&](Diagnostics& diagnostics) { return swept(source, call, diagnostics); }));
}

std::string plan_call(const ScenarioSource& source, std::optional<std::string> goal,
                      std::vector<std::string> keep, std::optional<std::string> framework,
                      std::optional<std::int64_t> best, int jobs) {
  const PlanCall call{std::move(goal), std::move(keep), std::move(framework), best, jobs,
                      end_on_signal};
  return called([&](Diagnostics& diagnostics) { return planned_text(source, call, diagnostics); });
}

ScenarioSource source_of(std::string path, std::optional<std::string> text,
                         const std::vector<std::pair<std::string, std::string>>& overrides) {
  ScenarioSource source{std::move(path), std::move(text), {}};
  for (const auto& [pointer, value] : overrides) {
    source.overrides.push_back(parse_override(fmt::format("{}={}", pointer, value)));
  }
  return source;
}

}  // namespace
}  // namespace headway

PYBIND11_MODULE(_headway, module) {
  using namespace headway;
  register_problems();
  py::class_<ScenarioSource>(module, "Source").def(py::init(&source_of));
  module.def("version", &headway_version);
  module.def("carry_data", [](const std::string& folder) { carry_data(folder); });
  module.def("resolve", &resolve);
  module.def("simulate", &simulate_call);
  module.def("sweep", &sweep_call);
  module.def("plan", &plan_call);
}
