#pragma once

#include <nlohmann/json.hpp>

namespace headway {

// What relations change of a random scenario (random_scenario.h).

[[nodiscard]] nlohmann::json& node_of(nlohmann::json& scenario);

/// "40 GB/s" times two.
void scale(nlohmann::json& quantity, double factor);

/// The fabric cable by cable, the cables in any order and either direction; a Clos stays as it is.
void draw_by_hand(nlohmann::json& job);

/// "40 GB/s" as "320 Gb/s", "800 ns" as "0.8 us".
void write_in_other_units(nlohmann::json& value);

/// The nodes of a fabric drawn by hand in another order, so that every rank stands elsewhere.
void permute_nodes(nlohmann::json& job);

/// On accelerators of a made-up kind, of which the profile says all: no constant of a library that
/// is known by the accelerator's name.
void take_made_up_accelerators(nlohmann::json& job);

/// Every rate a tenth and every time ten times, by the units of texts and by names: "overhead_s",
/// "peak_flops_per_s" over the value of each precision.
void slow_down_tenfold(nlohmann::json& value, double factor = 1.0);

}  // namespace headway
