#include "filter/evaluate.hpp"

#include <initializer_list>

#include "filter/payload.hpp"

namespace landtrace::filter {
namespace {

std::uint64_t load_header(const Context& context, const Op& op) {
  return abi::header_number(abi::load<std::uint64_t>(&context.header), op.offset, op.size);
}

template <typename T>
bool in_range(T value, const Op& op) {
  return static_cast<T>(value - static_cast<T>(op.low)) <= static_cast<T>(op.span);
}

bool header_in_range(const Context& context, const Op& op) {
  return ((load_header(context, op) - op.low) & (~0ull >> (64 - 8 * op.size))) <= op.span;
}

bool has_cpu(const Op& op, const std::byte* pool, std::uint64_t cpu) {
  if (cpu >= op.count) return false;
  return (pool[op.pool + cpu / 8] >> cpu % 8 & std::byte{1}) != std::byte{0};
}

// The bits of a mask's byte that stand for CPUs.
std::uint8_t valid_bits(std::uint64_t cpus, std::uint64_t byte) {
  const std::uint64_t left = cpus - 8 * byte;
  return static_cast<std::uint8_t>(left >= 8 ? 0xffu : (1u << left) - 1);
}

bool compare_mask(const Op& op, const std::byte* pool, ScatteredText mask) {
  const auto* other = reinterpret_cast<const std::uint8_t*>(pool + op.pool);
  bool same = true;
  bool common = false;
  for (std::uint64_t i = 0; i * 8 < op.count; ++i) {
    const std::uint8_t byte = mask.at(i) & valid_bits(op.count, i);
    same &= byte == other[i];
    common |= (byte & other[i]) != 0;
  }
  return op.code == OpCode::kMaskEqual ? same : common;
}

// The first range of the process, or of one with a greater id.
const FunctionRange* first_range(const FunctionRange* ranges, std::uint64_t count, std::uint32_t process) {
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (ranges[half].process < process) {
      ranges += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return ranges;
}

bool in_function(const Op& op, const std::byte* pool, std::uint32_t process, std::uint64_t address) {
  const auto* ranges = reinterpret_cast<const FunctionRange*>(pool + op.pool);
  const auto* end = ranges + op.count;
  for (const std::uint32_t owner : {std::uint32_t{0}, process}) {
    for (const auto* range = first_range(ranges, op.count, owner); range != end && range->process == owner; ++range) {
      if (address >= range->begin && address < range->end) return true;
    }
  }
  return false;
}

template <typename Payload>
std::uint64_t load_number(const Op& op, const Context& context, const Payload& payload) {
  if (op.source == Source::kHeader) return load_header(context, op);
  return abi::load_number(op.size, false, [&]<typename T>() { return payload.template load<T>(op.offset); });
}

// What there is of a text or mask, in the entry.
template <typename Payload>
abi::Location location_of(const Op& op, const Payload& payload) {
  const std::uint64_t at = std::uint64_t{op.offset} + abi::kEntryHeaderSize;
  if (op.source == Source::kField) return abi::cut({at, op.size}, payload.size());
  const auto word = payload.template load<std::uint32_t>(op.offset);
  const bool is_relative = op.source == Source::kRelLoc;
  return abi::cut(is_relative ? abi::rel_location(word, at + sizeof word) : abi::data_location(word), payload.size());
}

template <typename Payload>
bool matches(const Op& op, const std::byte* pool, const Context& context, const Payload& payload) {
  switch (op.code) {
    case OpCode::kNever:
      return false;
    case OpCode::kRange8:
      return in_range(payload.template load<std::uint8_t>(op.offset), op);
    case OpCode::kRange16:
      return in_range(payload.template load<std::uint16_t>(op.offset), op);
    case OpCode::kRange32:
      return in_range(payload.template load<std::uint32_t>(op.offset), op);
    case OpCode::kRange64:
      return in_range(payload.template load<std::uint64_t>(op.offset), op);
    case OpCode::kBits8:
      return (payload.template load<std::uint8_t>(op.offset) & op.bits) != 0;
    case OpCode::kBits16:
      return (payload.template load<std::uint16_t>(op.offset) & op.bits) != 0;
    case OpCode::kBits32:
      return (payload.template load<std::uint32_t>(op.offset) & op.bits) != 0;
    case OpCode::kBits64:
      return (payload.template load<std::uint64_t>(op.offset) & op.bits) != 0;
    case OpCode::kHeaderRange:
      return header_in_range(context, op);
    case OpCode::kHeaderBits:
      return (load_header(context, op) & op.bits) != 0;
    case OpCode::kCpuRange:
      return in_range(context.cpu, op);
    case OpCode::kEqual:
    case OpCode::kPrefix:
    case OpCode::kInside:
    case OpCode::kSuffix:
    case OpCode::kGlob:
      if (op.source == Source::kComm) return matches_text(op, pool, FlatText(context.comm, kCommSize), kCommSize);
      return payload.matches(op, pool, location_of(op, payload));
    case OpCode::kCpuInMask:
      return has_cpu(op, pool, context.cpu);
    case OpCode::kNumberInMask:
      return has_cpu(op, pool, load_number(op, context, payload));
    case OpCode::kMaskEqual:
    case OpCode::kMaskIntersects:
      return compare_mask(op, pool, payload.scattered(location_of(op, payload).begin));
    case OpCode::kFunction:
      return in_function(op, pool, context.process, payload.template load<std::uint64_t>(op.offset));
  }
  return false;
}

template <typename Payload>
bool run(const Program& program, const Context& context, const Payload& payload, std::uint32_t next) {
  const Op* ops = program.ops();
  const std::byte* pool = program.pool();
  do {
    const Op& op = ops[next];
    next = matches(op, pool, context, payload) ? op.on_match : op.on_mismatch;
  } while (next < Op::kReject);
  return next == Op::kPass;
}

// The other ops on numbers that are as quick. False for the rest.
inline bool matches_number(const Op& op, const Context& context, const FlatPayload& payload, bool& matched) {
  switch (op.code) {
    case OpCode::kRange16:
      matched = in_range(payload.load<std::uint16_t>(op.offset), op);
      return true;
    case OpCode::kRange8:
      matched = in_range(payload.load<std::uint8_t>(op.offset), op);
      return true;
    case OpCode::kBits32:
      matched = (payload.load<std::uint32_t>(op.offset) & op.bits) != 0;
      return true;
    case OpCode::kBits64:
      matched = (payload.load<std::uint64_t>(op.offset) & op.bits) != 0;
      return true;
    case OpCode::kHeaderRange:
      matched = header_in_range(context, op);
      return true;
    default:
      return false;
  }
}

// Out of line, so that passes() itself calls nothing and needs no frame.
[[gnu::noinline]] bool run_flat(const Program& program, const Context& context, const arch::Segment& segment,
                                std::uint32_t next) {
  return run(program, context, FlatPayload(context, segment), next);
}

[[gnu::noinline]] bool run_scattered(const Program& program, const Context& context, const arch::Segment* segments,
                                     std::size_t count) {
  return run(program, context, ScatteredPayload(context, segments, count), 0);
}

}  // namespace

bool passes(const Program& program, const Context& context, const arch::Segment* segments, std::size_t segment_count) {
  if (__builtin_expect(segment_count != 1 || segments[0].size < program.min_size, 0)) {
    return run_scattered(program, context, segments, segment_count);
  }
  // The usual numbers here; from the first predicate that is something else on, run_flat(). Most are one of two, for
  // which a branch is cheaper than a jump by table.
  const FlatPayload payload(context, segments[0]);
  const Op* ops = program.ops();
  std::uint32_t next = 0;
  do {
    const Op& op = ops[next];
    bool matched = false;
    if (op.code == OpCode::kRange32) {
      matched = in_range(payload.load<std::uint32_t>(op.offset), op);
    } else if (op.code == OpCode::kRange64) {
      matched = in_range(payload.load<std::uint64_t>(op.offset), op);
    } else if (!matches_number(op, context, payload, matched)) {
      return run_flat(program, context, segments[0], next);
    }
    next = matched ? op.on_match : op.on_mismatch;
  } while (next < Op::kReject);
  return next == Op::kPass;
}

}  // namespace landtrace::filter
