#include "filter/test_well_formed.hpp"

#include <cstring>

#include "filter/evaluate.hpp"
#include "filter/program.hpp"

namespace landtrace::filter {
namespace {

bool leads_forward(std::uint16_t target, std::size_t op, std::size_t count) {
  return target >= Op::kReject || (target > op && target < count);
}

bool is_number_size(std::uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

// Whether `count` pieces of `size` bytes from `at` lie in a pool.
bool lies_in(std::span<const std::byte> pool, std::uint64_t at, std::uint64_t count, std::uint64_t size) {
  return at <= pool.size() && count <= (pool.size() - at) / size;
}

bool is_glob_good(const Op& op, std::span<const std::byte> pool) {
  if (op.pool % alignof(std::uint64_t) != 0 || !lies_in(pool, op.pool, op.count, sizeof(GlobToken))) return false;
  const auto* tokens = reinterpret_cast<const GlobToken*>(pool.data() + op.pool);
  const std::uint64_t classes = op.pool + op.count * sizeof(GlobToken);
  for (std::uint64_t i = 0; i < op.count; ++i) {
    if (tokens[i].kind > GlobToken::kClass) return false;
    if (tokens[i].kind == GlobToken::kClass && !lies_in(pool, classes, tokens[i].value + 1ull, kGlobClassBytes)) {
      return false;
    }
  }
  return true;
}

bool is_operand_good(const Op& op, std::span<const std::byte> pool) {
  switch (op.code) {
    case OpCode::kEqual:
    case OpCode::kPrefix:
    case OpCode::kInside:
    case OpCode::kSuffix:
      return lies_in(pool, op.pool, op.count, 1) && lies_in(pool, op.pool + op.count, 1, 1);
    case OpCode::kGlob:
      return is_glob_good(op, pool);
    case OpCode::kCpuInMask:
    case OpCode::kNumberInMask:
    case OpCode::kMaskEqual:
    case OpCode::kMaskIntersects:
      return op.count <= kMaxCpus && lies_in(pool, op.pool, (op.count + 7) / 8, 1);
    case OpCode::kFunction:
      return op.pool % alignof(FunctionRange) == 0 && lies_in(pool, op.pool, op.count, sizeof(FunctionRange));
    default:
      return true;
  }
}

// Bytes at op.offset that the op loads without a look at the payload's size.
std::uint64_t loaded_bytes(const Op& op) {
  switch (op.code) {
    case OpCode::kRange8:
    case OpCode::kBits8:
      return 1;
    case OpCode::kRange16:
    case OpCode::kBits16:
      return 2;
    case OpCode::kRange32:
    case OpCode::kBits32:
      return 4;
    case OpCode::kRange64:
    case OpCode::kBits64:
    case OpCode::kFunction:
      return 8;
    case OpCode::kNumberInMask:
      return op.source == Source::kHeader ? 0 : op.size;
    default:
      return op.source == Source::kDataLoc || op.source == Source::kRelLoc ? 4 : 0;
  }
}

bool is_source_good(const Op& op, std::uint16_t uses) {
  switch (op.code) {
    case OpCode::kEqual:
    case OpCode::kPrefix:
    case OpCode::kInside:
    case OpCode::kSuffix:
    case OpCode::kGlob:
      if (op.source == Source::kComm) return (uses & Program::kUsesComm) != 0;
      return op.source == Source::kField || op.source == Source::kDataLoc || op.source == Source::kRelLoc;
    case OpCode::kMaskEqual:
    case OpCode::kMaskIntersects:
      return op.source == Source::kDataLoc;
    case OpCode::kHeaderRange:
    case OpCode::kHeaderBits:
      return op.source == Source::kHeader;
    case OpCode::kNumberInMask:
      return op.source == Source::kHeader || op.source == Source::kField;
    case OpCode::kCpuRange:
    case OpCode::kCpuInMask:
      return (uses & Program::kUsesCpu) != 0;
    case OpCode::kFunction:
      return (uses & Program::kUsesProcess) != 0;
    default:
      return true;
  }
}

bool is_field_good(const Op& op, const Program& program) {
  if (!is_source_good(op, program.uses)) return false;
  const bool is_header = op.source == Source::kHeader && op.code != OpCode::kNever;
  if ((is_header || op.code == OpCode::kNumberInMask) && !is_number_size(op.size)) return false;
  if (is_header) return op.offset + std::uint64_t{op.size} <= sizeof(std::uint64_t);
  return loaded_bytes(op) == 0 || op.offset + loaded_bytes(op) <= program.min_size;
}

}  // namespace

bool is_well_formed(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(Program) || reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(Program) != 0) {
    return false;
  }
  const auto& program = *reinterpret_cast<const Program*>(bytes.data());
  const std::size_t count = program.op_count;
  if (program.version != kProgramVersion || program.bytes != bytes.size() || count == 0 || count >= Op::kReject) {
    return false;
  }
  if (sizeof(Program) + count * sizeof(Op) > bytes.size()) return false;
  const auto pool = bytes.subspan(sizeof(Program) + count * sizeof(Op));
  for (std::size_t i = 0; i < count; ++i) {
    const Op& op = program.ops()[i];
    if (static_cast<std::uint8_t>(op.code) >= kOpCodes || static_cast<std::uint8_t>(op.source) >= kSources)
      return false;
    if (!leads_forward(op.on_match, i, count) || !leads_forward(op.on_mismatch, i, count)) return false;
    if (!is_operand_good(op, pool) || !is_field_good(op, program)) return false;
  }
  return true;
}

}  // namespace landtrace::filter
