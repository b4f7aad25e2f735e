#include "reports/answers/answers.h"
#include "sim/plan/plan_question.h"

namespace headway {
namespace {

struct AnswerOf {
  Answer operator()(const StrategyPlan& plan) const { return strategy_plan_answer(plan); }
  Answer operator()(const LargestPlan& plan) const { return largest_plan_answer(plan); }
  Answer operator()(const ClusterPlan& plan) const { return cluster_plan_answer(plan); }
  Answer operator()(const PurchasePlan& plan) const { return purchase_plan_answer(plan); }
};

}  // namespace

Answer plan_answer(const Plan& plan) { return std::visit(AnswerOf{}, plan); }

}  // namespace headway
