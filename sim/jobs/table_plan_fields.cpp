#include "sim/jobs/table_plan_fields.h"

#include "sim/jobs/part_fields.h"

namespace headway {
namespace {

bool are_whole_on_groups(const TablePlan& plan) {
  return plan.placement == TablePlacement::table || plan.placement == TablePlacement::balanced;
}

bool are_placed(const TablePlan& plan) { return plan.placement != TablePlacement::replicated; }

}  // namespace

const FieldTable<TablePlan>& table_plan_fields() {
  static const FieldTable<TablePlan> kFields(
      {{"placement", word(&TablePlan::placement),
        R"(How data-parallel ranks share out the tables of embedding bags. Each whole on one rank; some rows or
some columns of each on every rank; whole ones, of which costly ones are cut by rows until no rank
has more to do than it has to; or all on every rank. Ranks look up rows for the samples of all, and
send what they pooled to the ranks of the samples.
see: Naumov et al. 2019 (arXiv:1906.00091), 4; Mudigere et al. 2022 (arXiv:2104.05158), 4.2)"},
       {"group",
        whole(&TablePlan::group, between(1, 1'000'000))
            .where(are_whole_on_groups,
                   {"placement", "\"table\"", "rows or columns go to all ranks"}),
        R"(Consecutive ranks that a table is placed on together. Each has some of its rows, and they add up
what they pooled before it leaves the group: of the size of a scale-up domain, less crosses the
fabric.
limits: divides data_parallel)"},
       {"replicated_below",
        quantity(&TablePlan::replicated_below, at_least(0))
            .where(are_placed, {"placement", "\"table\"", "all tables stand on every rank"}),
        R"(Tables smaller than this, in fp32, stand on every rank, which reduce their gradients like others.)"},
       {"exchange_cost",
        number(&TablePlan::exchange_cost, between(0, 1e6))
            .where([](const TablePlan& plan) { return plan.placement == TablePlacement::balanced; },
                   {"placement", "\"balanced\"", "nothing is balanced"}),
        R"(Lookups of a row that cost a rank as much as sending one pooled row: what its memory moves while
its link moves a byte, by the bytes that a lookup moves for each that is sent.)"},
       {"optimizer",
        word(&TablePlan::optimizer)
            .where(are_placed, {"placement", "\"table\"", "they are updated like all else"}),
        R"(How rows that were looked up are updated, which reads and writes them and what is kept of them: a
value a row (rowwise_adagrad), an element (adagrad), two an element (adam) or nothing (sgd).
see: Duchi et al. 2011; Mudigere et al. 2022 (arXiv:2104.05158), 4.1.2)"}});
  return kFields;
}

TablePlan read_table_plan(ObjectReader& strategy, const TablePlan& habits) {
  const TablePlan plain;
  const bool are_idle = habits.placement == plain.placement && habits.group == plain.group &&
                        habits.replicated_below == plain.replicated_below &&
                        habits.optimizer == plain.optimizer;
  return read_part(strategy, "embedding_tables", table_plan_fields(), habits, are_idle);
}

}  // namespace headway
