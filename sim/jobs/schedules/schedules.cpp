#include <algorithm>
#include <array>

#include "sim/jobs/schedules/schedule.h"

namespace headway {

// Each is defined in the file that bears its name.
Schedule one_f_one_b();
Schedule gpipe();
Schedule breadth_first();
Schedule zb_h1();
Schedule zb_v();
Schedule dual_pipe();

std::span<const Schedule> schedules() {
  static const std::array kSchedules{one_f_one_b(), gpipe(), breadth_first(),
                                     zb_h1(),       zb_v(),  dual_pipe()};
  return kSchedules;
}

const Schedule* schedule_named(std::string_view name) {
  const auto found = std::ranges::find(schedules(), name, &Schedule::name);
  return found == schedules().end() ? nullptr : &*found;
}

}  // namespace headway
