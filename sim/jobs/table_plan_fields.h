#pragma once

#include "sim/files/field_table.h"
#include "sim/layers/table_plan.h"

namespace headway {

/// The fields of "embedding_tables".
[[nodiscard]] const FieldTable<TablePlan>& table_plan_fields();

/// The "embedding_tables" object of a strategy; `habits` where it says nothing. Resolved only where
/// somebody says something.
[[nodiscard]] TablePlan read_table_plan(ObjectReader& strategy, const TablePlan& habits);

}  // namespace headway
