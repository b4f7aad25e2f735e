#include "sim/jobs/compression/read_compression.h"

#include "sim/jobs/part_fields.h"

namespace headway {
namespace {

FieldMember<Compression> compression_method() {
  static const std::vector<Word<const Compressor*>> kMethods = [] {
    std::vector<Word<const Compressor*>> words;
    for (const Compressor& method : compressors()) words.emplace_back(method.name, &method);
    return words;
  }();
  return word<Compression>(
      Words<const Compressor*>(kMethods), [](const Compression& how) { return how.method; },
      [](Compression& how, const Compressor* method) { how.method = method; });
}

}  // namespace

const FieldTable<Compression>& compression_fields() {
  static const FieldTable<Compression> kFields(
      {{"method", compression_method(),
        R"(Gradients travel as they are; in fewer bits; as the largest elements of each rank with their
indices, which all ranks gather; as factors of low rank, where they are matrices; or, after a warm-up, as signs.
What it takes streams through the memory of the accelerator. What it costs in loss is not modelled.
see: Alistarh et al. 2017 (arXiv:1610.02132); Lin et al. 2018 (arXiv:1712.01887); Vogels et al. 2019
(arXiv:1905.13727); Tang et al. 2021 (arXiv:2102.02888))"},
       {"bits",
        number(&Compression::bits, between(1, 32))
            .where([](const Compression& how) { return how.is("quantise"); },
                   {"method", "\"quantise\"", "it says nothing here"}),
        R"(Of an element of gradients on its way.)"},
       {"density",
        number(&Compression::density, between(1e-6, 1))
            .where([](const Compression& how) { return how.is("top_k"); },
                   {"method", "\"top_k\"", "it says nothing here"}),
        R"(Share of the elements that a rank sends, each with an index of 4 bytes.)"},
       {"rank",
        whole(&Compression::rank, between(1, 4096))
            .where([](const Compression& how) { return how.is("low_rank"); },
                   {"method", "\"low_rank\"", "it says nothing here"}),
        R"(Of the two factors that stand for a matrix, where they are smaller than it.)"},
       {"warm_up",
        number(&Compression::warm_up, between(0, 1))
            .where([](const Compression& how) { return how.is("one_bit"); },
                   {"method", "\"one_bit\"", "it says nothing here"}),
        R"(Share of the steps that send everything. The step that is predicted is one that sends what steps
send on average.)"}});
  return kFields;
}

Compression read_compression(ObjectReader& strategy, const Compression& habits) {
  return read_part(strategy, "compression", compression_fields(), habits, habits.is_none());
}

}  // namespace headway
