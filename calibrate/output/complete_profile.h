#pragma once

#include <memory>
#include <string>

#include "calibrate/output/build_profile.h"

namespace headway {

/// The profile that ships of this accelerator ("h100-sxm"); null if there is none, or no data stands
/// beside this program.
[[nodiscard]] std::shared_ptr<const Profile> published_profile(const std::string& accelerator);

/// What an offer takes from the published profile of its accelerator: peaks of the data sheet (a
/// driver tells the highest clock, which lasts for no product), and the rate of the links inside a
/// node.
void add_published(Offer& offer, const Profile& published);

/// Fills in what a calibration has not measured: each number that it only assumes, and each part
/// that it lacks (kernel families, recipes, experts, CUDA graphs, other groups' collectives), from
/// the published profile of the same accelerator, with the sources and spreads that they have there.
/// The provenance says which numbers are measured and which published.
void complete(CalibratedProfile& calibrated, const Profile& published);

}  // namespace headway
