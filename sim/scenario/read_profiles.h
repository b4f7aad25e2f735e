#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/costs/kind_profiles.h"
#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"
#include "sim/network/cluster.h"

namespace headway {

/// Profiles by kind of node, as `Cluster::kind_of` counts them.
using ProfileList = std::vector<std::shared_ptr<const Profile>>;

[[nodiscard]] KindProfiles kind_profiles(const ProfileList& profiles);

/// Reads the "profile" of a scenario and writes it, resolved, into it: one, or a list of which
/// every node takes that of its accelerator. A published profile of another accelerator than the
/// nodes have is reported, and so are nodes that none of several is for. One measured profile alone
/// is used with a warning: beside it, where some nodes have its accelerator, what ships of the
/// others', else for all. Without a cluster all that
/// were named. Nothing if one of them cannot be read.
[[nodiscard]] std::optional<ProfileList> read_profiles(ObjectReader& scenario,
                                                       const Cluster* cluster, InputFiles& files);

}  // namespace headway
