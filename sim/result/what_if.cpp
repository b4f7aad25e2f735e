#include "sim/result/what_if.h"

#include "sim/base/diagnostic.h"

namespace headway {

std::string_view removal_kind_name(RemovalKind kind) {
  switch (kind) {
    case RemovalKind::cause:
      return "cause";
    case RemovalKind::operation:
      return "operation";
    case RemovalKind::stage:
      return "stage";
    case RemovalKind::replica:
      return "replica";
    case RemovalKind::node:
      return "node";
    case RemovalKind::rank:
      return "rank";
  }
  HEADWAY_CHECK(false, "unknown kind of removal");
}

}  // namespace headway
