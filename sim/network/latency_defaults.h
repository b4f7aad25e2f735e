#pragma once

#include "sim/base/units.h"

namespace headway {

/// What a topology file leaves out. Light in fibre takes 4.9 ns a metre, a signal in copper about
/// 4.5; 5 is taken for both.
inline constexpr Seconds kLeafCableLatency = 10_ns;    ///< 2 m, node to leaf
inline constexpr Seconds kSpineCableLatency = 150_ns;  ///< 30 m, leaf to spine
inline constexpr Seconds kCoreCableLatency = 500_ns;   ///< 100 m, spine to core
/// An InfiniBand switch with forward error correction; sources say from less than 130 to 330 ns.
/// Ethernet switches take longer (600 ns is usual) and are to be given.
inline constexpr Seconds kSwitchLatency = 200_ns;

}  // namespace headway
