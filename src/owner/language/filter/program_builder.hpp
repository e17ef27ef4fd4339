// Puts a program together: ops, their operands, and where they lead.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "language/filter/predicate.hpp"
#include "language/filter/program_buffer.hpp"

namespace landtrace::language {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::uint32_t cpus) : cpus_(cpus) {}

  // Adds the op of a predicate. True when the op's match is the predicate's opposite.
  bool add(const Predicate& predicate);

  [[nodiscard]] std::vector<filter::Op>& ops() { return ops_; }
  [[nodiscard]] bool fits() const { return ops_.size() < filter::Op::kReject && bytes() <= filter::kMaxProgram; }
  [[nodiscard]] ProgramBuffer finish() const;

 private:
  bool add_number(const Predicate& predicate, std::uint64_t value);
  bool add_text(const Predicate& predicate, const std::string& value);
  bool add_cpus(const Predicate& predicate, const CpuMask& mask);
  bool add_cpu_number(const Predicate& predicate, std::uint32_t cpu);
  bool add_functions(const Predicate& predicate, std::vector<filter::FunctionRange> ranges);

  filter::Op& add_op(filter::OpCode code, const FilterField& field);
  // Puts bytes in the pool, aligned, as the operand of an op.
  void add_operand(filter::Op& op, std::span<const std::byte> bytes, std::size_t count);
  void add_mask(filter::Op& op, const CpuMask& mask);
  [[nodiscard]] std::size_t bytes() const {
    return sizeof(filter::Program) + ops_.size() * sizeof(filter::Op) + pool_.size();
  }

  std::uint32_t cpus_;
  std::uint16_t uses_ = 0;
  std::uint32_t min_size_ = 0;
  std::vector<filter::Op> ops_;
  std::vector<std::byte> pool_;
};

}  // namespace landtrace::language
