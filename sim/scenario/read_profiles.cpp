#include "sim/scenario/read_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/costs/accelerators.h"
#include "sim/costs/read_profile.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

constexpr std::size_t kMostProfiles = 64;  ///< more than there are kinds of accelerators in a job

/// A file is named; of one that was changed on the way stands all that it says, its software's
/// numbers with its own.
nlohmann::json resolved_profile(const JsonCursor& profile, const JsonCursor& given) {
  if (!profile.pointer().empty()) return given.value();
  if (!profile.document().is_changed()) return profile.document().name();
  nlohmann::json whole = profile.value();
  whole.erase("software");
  return whole;
}

/// What somebody measured on a machine of their own is used for others too, with a warning.
void check_accelerator(const ReadProfile& profile, const std::string& wanted,
                       Diagnostics& diagnostics) {
  const Profile& costs = *profile.profile;
  if (wanted == "any" || costs.accelerator == wanted) return;
  const bool is_measured = costs.kind == "measured";
  const std::optional<JsonCursor> named = profile.cursor.member("accelerator");
  Diagnostic problem =
      (named ? *named : profile.cursor)
          .problem(is_measured
                       ? fmt::format("the profile was measured on {}, and the nodes have {}",
                                     costs.accelerator, wanted)
                       : "the profile is of another accelerator than the cluster has",
                   fmt::format("the nodes have {}", wanted),
                   fmt::format("name a profile of {} in \"profile\"; `headway "
                               "list profiles` shows them",
                               wanted));
  if (is_measured) problem.severity = Severity::warning;
  diagnostics.add(std::move(problem));
}

std::string nodes_of_kind(const Cluster& cluster, int kind) {
  if (cluster.kinds() == 1) return "the nodes";
  const auto first = std::ranges::find(cluster.kind_of_node, kind) - cluster.kind_of_node.begin();
  const auto count = std::ranges::count(cluster.kind_of_node, kind);
  return count == 1 ? fmt::format("node {}", first)
                    : fmt::format("{} nodes, the first of them node {},", count, first);
}

/// The profile of each kind of node; those that have none are reported.
ProfileList matched(const std::vector<ReadProfile>& profiles, const Cluster& cluster,
                    const JsonCursor& part, Diagnostics& diagnostics) {
  ProfileList of_kinds;
  std::string known;
  for (const ReadProfile& read : profiles) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", read.profile->accelerator);
  }
  for (int kind = 0; kind < cluster.kinds(); ++kind) {
    const std::string& wanted = cluster.type_of_kind(kind).accelerator;
    const auto found = std::ranges::find_if(profiles, [&](const ReadProfile& read) {
      return wanted == "any" || read.profile->accelerator == wanted;
    });
    if (found != profiles.end()) {
      of_kinds.push_back(found->profile);
      continue;
    }
    diagnostics.add(part.problem(
        fmt::format("no profile is of {}, which {} {}", wanted, nodes_of_kind(cluster, kind),
                    cluster.kinds() > 1 && std::ranges::count(cluster.kind_of_node, kind) == 1
                        ? "has"
                        : "have"),
        fmt::format("of {}", known),
        fmt::format("name a profile of each accelerator: [\"...\", \"...\"]; `headway list "
                    "profiles` shows them")));
  }
  return of_kinds;
}

/// Beside the one profile that somebody measured, what ships of the accelerators of the other
/// nodes, with a warning for each. None where no node has the accelerator that was measured.
std::vector<ReadProfile> shipped_beside(const ReadProfile& measured, const Cluster& cluster,
                                        const JsonCursor& part, InputFiles& files) {
  std::vector<std::string> wanted;
  bool is_used = false;
  for (int kind = 0; kind < cluster.kinds(); ++kind) {
    wanted.push_back(cluster.type_of_kind(kind).accelerator);
    is_used = is_used || wanted.back() == measured.profile->accelerator;
  }
  std::vector<ReadProfile> beside;
  for (const Accelerator& known : is_used ? accelerators() : std::vector<Accelerator>()) {
    if (known.name == measured.profile->accelerator ||
        std::ranges::find(wanted, known.name) == wanted.end()) {
      continue;
    }
    // It is no part of the scenario, so that what was overridden there does not reach it.
    const JsonCursor shipped(JsonDocument::parse(
        "what ships", compact_json(nlohmann::json({{"shipped", known.profile}})),
        files.diagnostics()));
    auto read = read_profile(*shipped.member("shipped"), files);
    if (!read) continue;
    Diagnostic problem = part.problem(
        fmt::format("the profile was measured on {}, and nodes with {} take what ships: {}",
                    measured.profile->accelerator, known.name, known.profile),
        "", fmt::format("a list names a profile of each: [\"...\", \"{}\"]", known.profile));
    problem.severity = Severity::warning;
    files.diagnostics().add(std::move(problem));
    beside.push_back(std::move(*read));
  }
  return beside;
}

/// Two profiles of one accelerator do not say which counts; one that no node has says nothing.
void check_list(const std::vector<ReadProfile>& profiles, const Cluster* cluster,
                const JsonCursor& list, Diagnostics& diagnostics) {
  const auto position = [&](const std::string& accelerator) {
    return std::ranges::find_if(
               profiles,
               [&](const ReadProfile& read) { return read.profile->accelerator == accelerator; }) -
           profiles.begin();
  };
  for (std::ptrdiff_t i = 0; i < std::ssize(profiles); ++i) {
    const std::string& accelerator = profiles[static_cast<std::size_t>(i)].profile->accelerator;
    const JsonCursor element = list.element(static_cast<std::size_t>(i));
    if (position(accelerator) != i) {
      diagnostics.add(
          element.problem("a second profile of " + accelerator, "", "keep one of them"));
      continue;
    }
    if (cluster == nullptr) continue;
    bool is_used = false;
    for (int kind = 0; kind < cluster->kinds(); ++kind) {
      const std::string& has = cluster->type_of_kind(kind).accelerator;
      is_used = is_used || has == accelerator || has == "any";
    }
    if (is_used) continue;
    Diagnostic unused = element.problem("no node has " + accelerator, "", "leave its profile out");
    unused.severity = Severity::warning;
    diagnostics.add(std::move(unused));
  }
}

}  // namespace

KindProfiles kind_profiles(const ProfileList& profiles) {
  std::vector<const Profile*> of_kinds;
  for (const std::shared_ptr<const Profile>& profile : profiles) of_kinds.push_back(profile.get());
  return KindProfiles(std::move(of_kinds));
}

std::optional<ProfileList> read_profiles(ObjectReader& scenario, const Cluster* cluster,
                                         InputFiles& files) {
  const std::optional<JsonCursor> part = scenario.required_part("profile", "\"h100_sxm\"");
  if (!part) return std::nullopt;
  bool is_list = part->is_array();
  std::vector<ReadProfile> profiles;
  nlohmann::json resolved = nlohmann::json::array();
  const std::size_t given = is_list ? part->value().size() : 1;
  if (given > kMostProfiles) {
    files.diagnostics().add(
        part->problem(fmt::format("a list has at most {} profiles", kMostProfiles),
                      fmt::format("{} profiles", given), "name one of each accelerator"));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < given; ++i) {
    const JsonCursor element = is_list ? part->element(i) : *part;
    if (auto read =
            files.once<ReadProfile>(element, "", [&] { return read_profile(element, files); })) {
      resolved.push_back(resolved_profile(read->cursor, element));
      profiles.push_back(std::move(*read));
    }
  }
  if (given == 0) {
    files.diagnostics().add(
        part->problem("a list of profiles names at least one", "",
                      "write [\"h100_sxm\"]; `headway list profiles` shows them"));
    return std::nullopt;
  }
  if (profiles.size() < given) return std::nullopt;
  if (is_list) check_list(profiles, cluster, *part, files.diagnostics());
  const bool is_lone = profiles.size() == 1 && profiles.front().profile->kind == "measured";
  if (cluster != nullptr && cluster->kinds() > 1 && is_lone) {
    for (ReadProfile& read : shipped_beside(profiles.front(), *cluster, *part, files)) {
      resolved.push_back(resolved_profile(read.cursor, read.cursor));
      profiles.push_back(std::move(read));
      is_list = true;
    }
  }
  scenario.resolve("profile", is_list ? resolved : resolved.front());

  ProfileList of_kinds;
  if (cluster == nullptr) {
    for (const ReadProfile& read : profiles) of_kinds.push_back(read.profile);
  } else if (profiles.size() == 1 && (cluster->kinds() == 1 || is_lone)) {
    for (int kind = 0; kind < cluster->kinds(); ++kind) {
      check_accelerator(profiles.front(), cluster->type_of_kind(kind).accelerator,
                        files.diagnostics());
      of_kinds.push_back(profiles.front().profile);
    }
  } else {
    of_kinds = matched(profiles, *cluster, *part, files.diagnostics());
    if (of_kinds.empty()) return std::nullopt;
  }
  return of_kinds;
}

}  // namespace headway
