// Input: an expression, a NUL, a byte that says how to cut the payload, the payload. The compiled filter and the slow
// reference must accept the same expressions, and judge alike whatever the payload holds.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "event_require.hpp"
#include "filter/evaluate.hpp"
#include "filter/test_reference.hpp"
#include "filter/test_well_formed.hpp"
#include "language/filter/compile.hpp"
#include "language/filter/text.hpp"

namespace {

using namespace landtrace;
using namespace landtrace::filter;

constexpr std::uint32_t kCpus = 12;
constexpr char kComm[kCommSize] = "fuzzed";
constexpr Context kContext{{60001, 1, 2, 4711}, 3, 4711, kComm};

const event::Declaration& declaration() {
  static const auto parsed = event::parse_declaration(
      "e u8 a;s8 b;u16 c;s16 d;u32 n;s32 s;u64 q;s64 r;struct t u 3;char[16] str;__data_loc char[] dyn;"
      "__rel_loc char[] rel;__data_loc cpumask_t m");
  return *parsed;
}

void check_failure(std::string_view expression, const FilterFailure& failure) {
  LT_REQUIRE(failure.code == EINVAL || failure.code == EPERM || failure.code == ENOENT || failure.code == ESRCH);
  LT_REQUIRE(failure.position <= expression.size() + 2);
  LT_REQUIRE(failed_filter_text(expression, failure).starts_with(expression));
}

void check_payload(const Program& program, const ReferenceFilter& reference, std::string_view payload, unsigned cut) {
  // Blocks of their own, so that ASan sees the first byte too many.
  std::vector<std::unique_ptr<char[]>> blocks;
  std::vector<arch::Segment> segments;
  const bool want = reference(ReferenceEntry(kContext, payload));
  const std::size_t step = cut == 0 ? std::max<std::size_t>(payload.size(), 1) : cut;
  for (std::size_t at = 0; at < payload.size() || segments.empty(); at += step) {
    const std::size_t size = std::min(step, payload.size() - at);
    blocks.push_back(std::make_unique<char[]>(size));
    if (size != 0) std::memcpy(blocks.back().get(), payload.data() + at, size);
    segments.push_back({blocks.back().get(), size});
  }
  LT_REQUIRE(passes(program, kContext, segments.data(), segments.size()) == want);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(input.find('\0'), size);
  const std::string_view expression = input.substr(0, end);
  if (expression.size() > kMaxFilter) return 0;
  const FilterNames names{declaration().fields, kCpus, nullptr};
  const auto program = compile_filter(expression, names);
  const auto reference = reference_filter(expression, names);
  LT_REQUIRE(program.has_value() == reference.has_value());
  if (!program) {
    check_failure(expression, program.error());
    return 0;
  }
  LT_REQUIRE(is_well_formed(program->bytes()));
  const std::string_view rest = input.substr(std::min(end + 1, size));
  check_payload(program->program(), *reference, rest.substr(std::min<std::size_t>(1, rest.size())),
                rest.empty() ? 0 : static_cast<unsigned char>(rest[0]));
  return 0;
}
