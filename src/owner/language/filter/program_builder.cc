#include "language/filter/program_builder.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "language/filter/pattern.hpp"

namespace landtrace::language {
namespace {

bool is_number_size(std::uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

filter::Source source_of(FilterFieldClass kind) {
  switch (kind) {
    case FilterFieldClass::kDataLocText:
    case FilterFieldClass::kCpuMask:
      return filter::Source::kDataLoc;
    case FilterFieldClass::kRelLocText:
      return filter::Source::kRelLoc;
    case FilterFieldClass::kHeader:
      return filter::Source::kHeader;
    case FilterFieldClass::kComm:
      return filter::Source::kComm;
    case FilterFieldClass::kCpu:
      return filter::Source::kCpu;
    default:
      return filter::Source::kField;
  }
}

// kRange8 … kRange64, kBits8 … kBits64.
filter::OpCode sized(filter::OpCode first, std::uint32_t size) {
  const int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return static_cast<filter::OpCode>(static_cast<int>(first) + step);
}

// `value OPERATOR number` as an interval that it must, or must not, be in.
struct Interval {
  std::uint64_t low;
  std::uint64_t span;
  bool is_negated;
};
Interval interval_of(FilterOperator op, std::uint64_t value, std::uint32_t size, bool is_signed) {
  const std::uint64_t mask = ~0ull >> (64 - 8 * size);
  const std::uint64_t most = is_signed ? mask >> 1 : mask;
  const std::uint64_t least = is_signed ? most + 1 : 0;
  value &= mask;  // the kernel casts it to the field's type
  switch (op) {
    case FilterOperator::kLess:
    case FilterOperator::kGreaterEqual:
      return {value, (most - value) & mask, op == FilterOperator::kLess};
    case FilterOperator::kGreater:
    case FilterOperator::kLessEqual:
      return {least, (value - least) & mask, op == FilterOperator::kGreater};
    default:
      return {value, 0, op == FilterOperator::kNotEqual};
  }
}

}  // namespace

bool ProgramBuilder::add(const Predicate& predicate) {
  if (const auto* number = std::get_if<FilterNumber>(&predicate.value)) return add_number(predicate, number->value);
  if (const auto* text = std::get_if<FilterText>(&predicate.value)) return add_text(predicate, text->value);
  if (const auto* mask = std::get_if<CpuMask>(&predicate.value)) return add_cpus(predicate, *mask);
  return add_functions(predicate, std::get<FilterFunctions>(predicate.value).ranges);
}

bool ProgramBuilder::add_number(const Predicate& predicate, std::uint64_t value) {
  const FilterField& field = predicate.field;
  const bool is_cpu = field.kind == FilterFieldClass::kCpu;
  const bool is_header = field.kind == FilterFieldClass::kHeader;
  const std::uint32_t size = is_cpu ? sizeof(std::int32_t) : field.size;
  if (!is_number_size(size) || (is_cpu && predicate.op == FilterOperator::kAnd)) {
    add_op(filter::OpCode::kNever, field);  // not even != matches
    return false;
  }
  if (predicate.op == FilterOperator::kAnd) {
    filter::Op& op = add_op(is_header ? filter::OpCode::kHeaderBits : sized(filter::OpCode::kBits8, size), field);
    op.bits = value & (~0ull >> (64 - 8 * size));
    return false;
  }
  const Interval interval = interval_of(predicate.op, value, size, field.is_signed);
  filter::Op& op = add_op(is_cpu      ? filter::OpCode::kCpuRange
                          : is_header ? filter::OpCode::kHeaderRange
                                      : sized(filter::OpCode::kRange8, size),
                          field);
  op.low = interval.low;
  op.span = interval.span;
  return interval.is_negated;
}

bool ProgramBuilder::add_text(const Predicate& predicate, const std::string& value) {
  TextPattern pattern{filter::OpCode::kEqual, value, predicate.op == FilterOperator::kNotEqual};
  if (predicate.op == FilterOperator::kGlob) pattern = parse_text_pattern(value);
  filter::Op& op = add_op(pattern.match, predicate.field);
  if (pattern.match == filter::OpCode::kGlob) {
    Glob glob = compile_glob(pattern.text);
    std::vector<std::byte> bytes(glob.tokens.size() * sizeof(filter::GlobToken));
    if (!bytes.empty()) std::memcpy(bytes.data(), glob.tokens.data(), bytes.size());
    bytes.insert(bytes.end(), glob.classes.begin(), glob.classes.end());
    add_operand(op, bytes, glob.tokens.size());
  } else {
    // With its NUL, which a text that is equal has too unless its field is full.
    add_operand(op, std::as_bytes(std::span(pattern.text.c_str(), pattern.text.size() + 1)), pattern.text.size());
  }
  return pattern.is_negated;
}

bool ProgramBuilder::add_cpus(const Predicate& predicate, const CpuMask& mask) {
  const FilterField& field = predicate.field;
  const bool is_not_equal = predicate.op == FilterOperator::kNotEqual;
  if (field.kind == FilterFieldClass::kCpuMask) {
    add_mask(add_op(predicate.op == FilterOperator::kAnd ? filter::OpCode::kMaskIntersects : filter::OpCode::kMaskEqual,
                    field),
             mask);
    return is_not_equal;
  }
  if (const auto cpu = mask.only()) {
    const Predicate number{field, is_not_equal ? FilterOperator::kNotEqual : FilterOperator::kEqual,
                           FilterNumber{*cpu}};
    return add_number(number, *cpu);
  }
  // One number never equals several CPUs; a number that no CPU can have is not compared.
  const bool is_cpu = field.kind == FilterFieldClass::kCpu;
  if (!is_cpu && !is_number_size(field.size)) {
    add_op(filter::OpCode::kNever, field);
    return false;
  }
  if (predicate.op == FilterOperator::kAnd) {
    add_mask(add_op(is_cpu ? filter::OpCode::kCpuInMask : filter::OpCode::kNumberInMask, field), mask);
    return false;
  }
  if (is_cpu || !is_not_equal) {
    add_op(filter::OpCode::kNever, field);
    return is_not_equal;
  }
  const FilterField as_unsigned{field.kind, false, field.offset, field.size};
  const std::uint64_t most = std::min<std::uint64_t>(cpus_ - 1, ~0ull >> (64 - 8 * field.size));
  return add_number({as_unsigned, FilterOperator::kLessEqual, FilterNumber{most}}, most);
}

bool ProgramBuilder::add_functions(const Predicate& predicate, std::vector<filter::FunctionRange> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.process < b.process; });
  add_operand(add_op(filter::OpCode::kFunction, predicate.field), std::as_bytes(std::span(ranges)), ranges.size());
  return predicate.op == FilterOperator::kNotEqual;
}

filter::Op& ProgramBuilder::add_op(filter::OpCode code, const FilterField& field) {
  if (field.kind == FilterFieldClass::kCpu) uses_ |= filter::Program::kUsesCpu;
  if (field.kind == FilterFieldClass::kComm) uses_ |= filter::Program::kUsesComm;
  if (code == filter::OpCode::kFunction) uses_ |= filter::Program::kUsesProcess;
  const bool is_payload = field.kind != FilterFieldClass::kHeader;  // what has no place in the entry has size 0
  if (is_payload && code != filter::OpCode::kNever) min_size_ = std::max(min_size_, field.offset + field.size);
  filter::Op& op = ops_.emplace_back(filter::Op{});
  op.code = code;
  op.source = source_of(field.kind);
  op.offset = field.offset;
  op.size = field.size;
  return op;
}

void ProgramBuilder::add_operand(filter::Op& op, std::span<const std::byte> bytes, std::size_t count) {
  op.pool = pool_.size();
  op.count = count;
  pool_.insert(pool_.end(), bytes.begin(), bytes.end());
  pool_.resize((pool_.size() + 7) / 8 * 8);
}

void ProgramBuilder::add_mask(filter::Op& op, const CpuMask& mask) { add_operand(op, mask.bytes(), cpus_); }

ProgramBuffer ProgramBuilder::finish() const {
  std::vector<std::uint64_t> words(bytes() / sizeof(std::uint64_t));
  filter::Program program{};
  program.version = filter::kProgramVersion;
  program.uses = uses_;
  program.op_count = static_cast<std::uint16_t>(ops_.size());
  program.bytes = static_cast<std::uint32_t>(bytes());
  program.min_size = min_size_;
  auto* out = reinterpret_cast<std::byte*>(words.data());
  std::memcpy(out, &program, sizeof program);
  std::memcpy(out + sizeof program, ops_.data(), ops_.size() * sizeof(filter::Op));
  if (!pool_.empty()) std::memcpy(out + sizeof program + ops_.size() * sizeof(filter::Op), pool_.data(), pool_.size());
  return ProgramBuffer(std::move(words));
}

}  // namespace landtrace::language
