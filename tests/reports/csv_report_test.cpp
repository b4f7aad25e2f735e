#include "reports/csv_report.h"

#include <gmock/gmock.h>

#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

TEST(CsvReport, HasUnitsInItsHeader) {
  EXPECT_EQ(
      csv_report(sample_prediction()),
      "model,cluster,node_type,gpus,strategy,profile,fits,iteration_time_s,"
      "iteration_time_p5_s,iteration_time_p95_s,samples_per_s,tokens_per_s,"
      "tokens_per_s_per_gpu,model_tflops_per_gpu,mfu,hfu,scaling_efficiency,goodput,"
      "run_time_s,run_time_p5_s,run_time_p95_s,run_cost_usd,run_cost_p5_usd,run_cost_p95_usd,"
      "memory_bytes,"
      "memory_capacity_bytes,compute_s,recompute_s,tensor_parallel_s,context_parallel_s,"
      "expert_parallel_s,embedding_exchange_s,pipeline_bubble_s,pipeline_transfer_s,"
      "data_parallel_exposed_s,optimizer_s,straggler_wait_s,server_wait_s,data_loading_s,other_s\n"
      "gpt3-175b,rail-400g,HGX H200,1024,"
      "\"tp 8, pp 8, dp 16, global batch 1536, 1F1B\",h200-sxm (measured),true,6.94,6.7,7.22,"
      "221.3,453200,442.6,465,0.47,0.512,0.931,,,,,,,,34359738368,137438953472,5.51,0,0.61,0,0,0,"
      "0.45,0,0.25,0.07,0,0,0,0.05\n");
}

TEST(CsvReport, JobThatWasNotSimulatedHasNoTimes) {
  Prediction p;
  p.question.model = "a";
  p.memory.fits = false;
  EXPECT_THAT(csv_report(p), testing::HasSubstr("\na,,,0,,,false,,,,,,,,,,,,,,,,,,0,0,,"));
}

TEST(CsvReport, NamesAreCellsAndNeverFormulas) {
  Prediction p = sample_prediction();
  p.question.model = "=1+1";
  p.question.cluster = "a \"b\"";
  EXPECT_THAT(csv_report(p), testing::HasSubstr("\n'=1+1,\"a \"\"b\"\"\","));
}

}  // namespace
}  // namespace headway
