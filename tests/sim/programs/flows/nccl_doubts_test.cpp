#include "sim/programs/flows/nccl_doubts.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

bool is_told(TransportKind transport, CollectiveKind kind, Bytes message) {
  return nccl_doubt(transport, kind, message) == nullptr;
}

TEST(NcclDoubts, AreOfSizesWhoseTablesContradictEachOther) {
  const auto ring = CollectiveKind::all_reduce;
  EXPECT_TRUE(is_told(TransportKind::slingshot, ring, 8_KiB - 1_B));
  EXPECT_FALSE(is_told(TransportKind::slingshot, ring, 8_KiB));
  EXPECT_FALSE(is_told(TransportKind::slingshot, ring, 128_MiB - 1_B));
  EXPECT_TRUE(is_told(TransportKind::slingshot, ring, 128_MiB));
  EXPECT_FALSE(is_told(TransportKind::tcp, CollectiveKind::broadcast, 1_B));
  EXPECT_TRUE(is_told(TransportKind::efa_v1, ring, 64_KiB));
  EXPECT_FALSE(is_told(TransportKind::efa_v1, ring, 64_KiB + 1_B));
}

TEST(NcclDoubts, AreOfOtherSizesWhereEverybodySendsToEverybody) {
  const auto all = CollectiveKind::all_to_all;
  EXPECT_FALSE(is_told(TransportKind::slingshot, all, 1_KiB));
  EXPECT_TRUE(is_told(TransportKind::slingshot, all, 8_KiB));
  EXPECT_TRUE(is_told(TransportKind::tcp, all, 1_MiB - 1_B));
  EXPECT_FALSE(is_told(TransportKind::tcp, all, 1_MiB));
  EXPECT_TRUE(is_told(TransportKind::efa_v1, all, 1_MiB));
}

TEST(NcclDoubts, AreOfSomeTransportsOnly) {
  for (const TransportKind known :
       {TransportKind::infiniband, TransportKind::roce, TransportKind::efa}) {
    EXPECT_FALSE(has_nccl_doubts(known));
    for (const Bytes size : {1_B, 64_KiB, 1_MiB, 1_GiB}) {
      EXPECT_TRUE(is_told(known, CollectiveKind::all_reduce, size));
      EXPECT_TRUE(is_told(known, CollectiveKind::all_to_all, size));
    }
  }
  EXPECT_TRUE(has_nccl_doubts(TransportKind::tcp));
}

}  // namespace
}  // namespace headway
