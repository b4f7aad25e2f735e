#include "sim/programs/pipeline/written_out.h"

#include <utility>

#include "sim/base/index.h"
#include "sim/programs/pipeline/pass_order.h"

namespace headway {
namespace {

class LongProgram {
 public:
  explicit LongProgram(Program& program)
      : program_(program), slot_of_(static_cast<std::size_t>(program.collective_slots), -1) {}

  void write() {
    const Passes& passes = *program_.passes;
    const std::vector<Operation>& operations = program_.operations;
    written_.reserve(length());
    for (std::size_t i = 0; i < passes.begin; ++i) add(operations[i]);
    for (std::size_t number = 0; number < passes.order->steps.size(); ++number) {
      const PassStep& step = passes.order->steps[number];
      micro_batch_ = passes.order->passes[number].micro_batch;
      chunk_ = passes.order->passes[number].chunk;
      if (step.received >= 0) add({.kind = OperationKind::receive, .slot = step.received});
      if (step.body >= 0) {
        const Passes::Range& body = at(passes.bodies, step.body);
        for (std::size_t stretch = body.begin; stretch < body.end; ++stretch) {
          const Passes::Range& of = passes.stretches[stretch];
          for (std::size_t i = of.begin; i < of.end; ++i) add(operations[i]);
        }
      }
      if (step.sent >= 0) {
        const PassWay& way = at(passes.order->ways, step.message);
        add({.kind = OperationKind::send,
             .blocking = passes.blocking,
             .peer = way.peer,
             .path = way.path,
             .slot = step.sent,
             .amount = at(passes.messages, step.message)});
      }
    }
    micro_batch_ = -1;
    chunk_ = -1;
    for (std::size_t i = passes.end; i < operations.size(); ++i) add(operations[i]);
    program_.operations = std::move(written_);
    program_.collective_slots = slots_;
    program_.passes.reset();
  }

 private:
  [[nodiscard]] std::size_t length() const {
    const Passes& passes = *program_.passes;
    std::size_t length = program_.operations.size() - (passes.end - passes.begin);
    for (const PassStep& step : passes.order->steps) {
      length += (step.received >= 0 ? 1 : 0) + (step.sent >= 0 ? 1 : 0);
      if (step.body < 0) continue;
      const Passes::Range& body = at(passes.bodies, step.body);
      for (std::size_t stretch = body.begin; stretch < body.end; ++stretch) {
        length += passes.stretches[stretch].end - passes.stretches[stretch].begin;
      }
    }
    return length;
  }

  void add(Operation operation) {
    operation.micro_batch = micro_batch_;
    operation.chunk = chunk_;
    if (operation.kind == OperationKind::join) at(slot_of_, operation.slot) = slots_++;
    if (operation.kind == OperationKind::join || operation.kind == OperationKind::wait) {
      operation.slot = at(slot_of_, operation.slot);
    }
    written_.push_back(operation);
  }

  Program& program_;
  std::vector<std::int32_t> slot_of_;  ///< the last one that a slot in short stood for
  std::vector<Operation> written_;
  std::int32_t slots_ = 0;
  int micro_batch_ = -1;
  int chunk_ = -1;
};

}  // namespace

Program written_out(Program program) {
  if (program.passes) LongProgram(program).write();
  return program;
}

}  // namespace headway
