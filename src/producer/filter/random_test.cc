// Random expressions and payloads: the compiled filter answers as the slow reading of the language does, however the
// payload is cut into segments.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <random>

#include "filter/evaluate.hpp"
#include "filter/test_reference.hpp"
#include "filter/test_well_formed.hpp"
#include "language/filter/compile.hpp"

namespace landtrace::filter {
namespace {

constexpr std::uint32_t kCpus = 12;

class RandomSource {
 public:
  explicit RandomSource(unsigned seed) : engine_(seed) {}

  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(engine_); }

  template <std::size_t N>
  const char* one_of(const std::array<const char*, N>& words) {
    return words[below(N)];
  }

  std::string expression(int depth = 3) {
    std::string out = operand(depth);
    for (unsigned more = below(3); more > 0; --more) out += one_of<4>({" && ", "||", " || ", "&&"}) + operand(depth);
    return out;
  }

  // Fields of kDeclaration, then text and masks where the locations say, mostly.
  std::string payload() {
    std::string out;
    for (unsigned i = 0; i < 37; ++i) out += static_cast<char>(below(4) == 0 ? below(256) : below(3));
    const auto word = [&](std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), 4); };
    const std::string text = words(12) + '\0';
    const auto size = static_cast<std::uint32_t>(text.size()) << 16;
    const bool is_wild = below(8) == 0;
    word(is_wild ? below(100) | below(90) << 16 : 57 | size);                       // dyn
    word(is_wild ? below(100) | below(90) << 16 : 8 | (below(4) == 0 ? 0 : size));  // rel
    word(57 + below(8));                                                            // mask
    return out + text;
  }

  std::vector<arch::Segment> segments(const char* data, std::size_t size) {
    std::vector<arch::Segment> out;
    for (std::size_t at = 0; at < size || out.empty();) {
      const std::size_t part = below(3) == 0 ? size - at : std::min<std::size_t>(size - at, below(20));
      out.push_back({data + at, part});
      at += part;
    }
    return out;
  }

 private:
  std::string operand(int depth) {
    if (below(4) == 0) return "!" + operand(depth);
    if (depth > 0 && below(4) == 0) return "(" + expression(depth - 1) + ")";
    return predicate();
  }

  std::string predicate() {
    const std::string op = one_of<8>({"==", "!=", "<", "<=", ">", ">=", "&", "~"});
    switch (below(8)) {
      case 0:
      case 1:
        return fmt::format("{} {} \"{}\"", one_of<4>({"text", "dyn", "rel", "COMM"}), one_of<3>({"==", "!=", "~"}),
                           words(6));
      case 2:
        return fmt::format("{} ~ '{}{}{}'", one_of<4>({"text", "dyn", "rel", "comm"}), one_of<4>({"", "*", "!*", "!"}),
                           words(4), one_of<2>({"", "*"}));
      case 3:
        return fmt::format("{} {} CPUS{{{}}}", any_field(), one_of<3>({"==", "!=", "&"}),
                           one_of<5>({"0-3", "1", "all", "0,2,N", " 2-9:1/3"}));
      default:
        return fmt::format("{}{}{}", any_field(), op, number());
    }
  }

  std::string any_field() {
    return one_of<19>({"u1", "s1", "u2", "s2", "u4", "s4", "u8", "s8", "rec", "text", "dyn", "rel", "mask",
                       "common_pid", "common_type", "cpu", "stacktrace", "common_flags", "nosuch"});
  }

  std::string number() {
    switch (below(4)) {
      case 0:
        return std::to_string(static_cast<std::int64_t>(engine_()) << below(40));
      case 1:
        return fmt::format("0x{:x}", std::uint64_t{engine_()} << below(33));
      default:
        return std::to_string(static_cast<int>(below(6)) - 2);
    }
  }

  std::string words(unsigned limit) {
    std::string out;
    for (unsigned size = below(limit); size > 0; --size) {
      out += one_of<12>({"a", "a", "b", "b", "c", "*", "?", "[ab]", "[!a]", "[", "\\", "b-"});
    }
    return out;
  }

  std::mt19937 engine_;
};

class RandomFilter : public testing::TestWithParam<unsigned> {};

TEST_P(RandomFilter, AnswersAsTheReferenceDoes) {
  RandomSource random(GetParam());
  const auto declaration = event::parse_declaration(
      "e u8 u1;s8 s1;u16 u2;s16 s2;u32 u4;s32 s4;u64 u8;s64 s8;struct rec rec 3;char[4] text;__data_loc char[] dyn;"
      "__rel_loc char[] rel;__data_loc cpumask_t mask");
  ASSERT_TRUE(declaration);
  const FilterNames names{declaration->fields, kCpus, nullptr};
  const char comm[kCommSize] = "aab";
  int accepted = 0;
  int passed = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string expression = random.expression();
    SCOPED_TRACE(expression);
    const auto program = compile_filter(expression, names);
    const auto reference = reference_filter(expression, names);
    ASSERT_EQ(program.has_value(), reference.has_value());
    if (!program) continue;
    ++accepted;
    ASSERT_TRUE(is_well_formed(program->bytes()));
    for (int n = 0; n < 4; ++n) {
      const Context context{{static_cast<std::uint16_t>(random.below(4)), 1, 2, 3}, random.below(16), 0, comm};
      const std::string payload = random.payload();
      // A block of its own, so that a sanitizer sees the first byte too many.
      const auto data = std::make_unique<char[]>(payload.size());
      std::memcpy(data.get(), payload.data(), payload.size());
      const bool want = (*reference)(ReferenceEntry(context, payload));
      passed += want ? 1 : 0;
      const arch::Segment whole{data.get(), payload.size()};
      ASSERT_EQ(passes(program->program(), context, &whole, 1), want);
      const auto pieces = random.segments(data.get(), payload.size());
      ASSERT_EQ(passes(program->program(), context, pieces.data(), pieces.size()), want)
          << pieces.size() << " segments";
    }
  }
  // The generator must neither make nonsense only, nor filters that are all alike.
  EXPECT_GT(accepted, 500);
  EXPECT_GT(passed, accepted);
  EXPECT_LT(passed, accepted * 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFilter, testing::Range(1u, 9u));

}  // namespace
}  // namespace landtrace::filter
