#pragma once

#include <cstdint>
#include <filesystem>
#include <variant>
#include <vector>

#include "reports/answers/answer.h"

namespace headway {

// The answer of each command, one a file. What an answer is made from has to outlive it.

struct AnchorValidation;
struct Cluster;
struct ClusterPlan;
struct CollectiveReport;
struct CollectiveValidation;
struct Comparison;
struct FabricAnalysis;
struct FoundRoute;
struct FreeConstant;
struct KnobPairs;
struct LargestPlan;
struct MeasuredComparison;
struct MemoryValidation;
struct Prediction;
struct PurchasePlan;
struct ReplayResult;
struct StrategyPlan;
struct Study;
struct SweepPoint;
struct SweepSummary;
struct SyncValidation;
struct Validation;

/// Time, throughput, memory and what limits them ("headway/result/1").
[[nodiscard]] Answer prediction_answer(const Prediction& prediction);

/// Many predictions of one question ("headway/study/1"); a terminal gets it as Markdown.
[[nodiscard]] Answer study_answer(const Study& study);

/// What a run of a sweep did, and the points of the store in its folder: on a terminal the main
/// numbers, on pages as a study, "headway/sweep/2".
[[nodiscard]] Answer sweep_answer(const SweepSummary& summary, const std::filesystem::path& folder);

/// What a run would do with the points that the store lacks, of `all` that the axes span
/// ("headway/sweep-plan/1").
[[nodiscard]] Answer sweep_plan_answer(const std::vector<SweepPoint>& points, std::int64_t all);

/// The best strategies on a cluster, with the reason why each of the others lost
/// ("headway/plan/1").
[[nodiscard]] Answer strategy_plan_answer(const StrategyPlan& plan);

/// The sizes that were tried, and the smallest or cheapest that meets the goal
/// ("headway/cluster-plan/1").
[[nodiscard]] Answer cluster_plan_answer(const ClusterPlan& plan);

/// Which of several clusters to take and how much of it, what it is made of, and what the others
/// lack ("headway/purchase-plan/1").
[[nodiscard]] Answer purchase_plan_answer(const PurchasePlan& plan);

/// What was tried, the largest that fits, and the strategies that are fastest there
/// ("headway/largest-plan/1").
[[nodiscard]] Answer largest_plan_answer(const LargestPlan& plan);

/// The answer for whichever of the four the plan is.
[[nodiscard]] Answer plan_answer(
    const std::variant<StrategyPlan, LargestPlan, ClusterPlan, PurchasePlan>& plan);

/// Which difference of the inputs makes which part of the difference ("headway/comparison/1").
[[nodiscard]] Answer comparison_answer(const Comparison& comparison);

/// The table that nccl-tests prints, in its words and units (microseconds; GB/s of 1e9 bytes), with
/// the closed form and its ratio beside it; the last line is the average bus bandwidth
/// ("headway/collective/1").
[[nodiscard]] Answer collective_answer(const CollectiveReport& report);

/// What the cables and the routes of a fabric amount to ("headway/fabric/1").
[[nodiscard]] Answer fabric_answer(const Cluster& cluster, const FabricAnalysis& analysis);

/// The hops of a flow ("headway/route/1").
[[nodiscard]] Answer route_answer(const Cluster& cluster, const FoundRoute& route);

/// How far predictions of published steps are off ("headway/validation/1"); whether published jobs
/// fit ("headway/memory-validation/1"); what changing one thing does ("headway/row-pairs/1"); what
/// one measured step is worth ("headway/anchor-validation/1"); what constants are free
/// ("headway/free-constants/1"); what synchronisation, input and recovery cost
/// ("headway/sync-validation/1"); how long collectives take against published sweeps
/// ("headway/collective-validation/1"); steps that were run here
/// ("headway/measured_validation/1").
[[nodiscard]] Answer validation_answer(const Validation& validation);
[[nodiscard]] Answer memory_validation_answer(const MemoryValidation& validation);
[[nodiscard]] Answer anchor_validation_answer(const AnchorValidation& validation);
[[nodiscard]] Answer row_pairs_answer(const std::vector<KnobPairs>& knobs);
[[nodiscard]] Answer free_constants_answer(const std::vector<FreeConstant>& constants);
[[nodiscard]] Answer sync_validation_answer(const SyncValidation& validation);
[[nodiscard]] Answer collective_validation_answer(const CollectiveValidation& validation);
[[nodiscard]] Answer measured_validation_answer(const MeasuredComparison& comparison);

/// A recorded run without its stragglers: step times, the slowdown, and what replicas, stages and
/// operations take part in it ("headway/replay/1").
[[nodiscard]] Answer replay_answer(const ReplayResult& result);

}  // namespace headway
