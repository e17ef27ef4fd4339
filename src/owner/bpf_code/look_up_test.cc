// Values that code looks up in line: the answers are the helper's, whatever lies in the map.
#include <gtest/gtest.h>

#include "bpf/helpers.hpp"
#include "bpf/maps/hash.hpp"
#include "bpf_code/test_twins.hpp"
#include "verifier/test_programs.hpp"

namespace landtrace::bpf_code {
namespace {

using namespace bpf::code;

enum class Do : std::uint32_t { kCount, kDelete };

// Of an event with a key and what to do: counts in the key's value, which is made where there is none; returns the
// count, or what the helper has said.
Code count_in(int map_number) {
  const Code key = map(1, map_number) + Code{copy(2, 10), alu(BPF_ADD, 2, -8)};
  const Code removal = key + Code{call(BPF_FUNC_map_delete_elem), leave()};
  const Code count = key + Code{call(BPF_FUNC_map_lookup_elem),
                                jump(BPF_JEQ, 0, 0, 6),
                                set(3, 1),
                                atomic(BPF_DW, BPF_ADD | BPF_FETCH, 0, 0, 3),
                                copy(0, 3),
                                alu_r(BPF_ADD, 0, 1),
                                alu_r(BPF_ADD, 0, 2),
                                leave()};
  const Code addition = Code{put(BPF_DW, 10, -16, 1)} + key +
                        Code{copy(3, 10), alu(BPF_ADD, 3, -16), set(4, 0), call(BPF_FUNC_map_update_elem), leave()};
  return Code{load(BPF_DW, 7, 1, 8), store(BPF_DW, 10, -8, 7), load(BPF_W, 8, 1, 16),
              jump(BPF_JEQ, 8, 0, static_cast<int>(removal.size()))} +
         removal + count + addition;
}

std::string event_of(std::uint64_t key, Do what) {
  std::string event(12, '\0');
  std::memcpy(event.data(), &key, sizeof key);
  std::memcpy(event.data() + 8, &what, sizeof what);
  return event;
}

const std::vector<bpf_objects::MapWish>& wishes() {
  static const std::vector<bpf_objects::MapWish> wishes = {
      {bpf::kHash, 4, 8, 64, 0},    {bpf::kHash, 8, 8, 64, 0}, {bpf::kLruHash, 4, 8, 16, 0},
      {bpf::kLruHash, 8, 8, 16, 0}, {bpf::kHash, 4, 8, 1, 0},  {bpf::kHash, 5, 8, 64, 0},
      {bpf::kArray, 4, 8, 50, 0},   {bpf::kArray, 4, 8, 1, 0}, {bpf::kPercpuHash, 4, 8, 16, 0}};
  return wishes;
}

class LookUps : public testing::TestWithParam<int> {
 protected:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  // Mostly of a few, so that they are met again.
  std::uint64_t key() {
    const auto low = static_cast<std::uint64_t>(below(100));
    return below(3) == 0 ? low | static_cast<std::uint64_t>(below(3)) << 32 : low;
  }
  std::string difference() { return twins_.difference(event_of(key(), below(4) == 0 ? Do::kDelete : Do::kCount)); }

  std::mt19937_64 random_{21};
  Twins twins_{wishes()};
};
INSTANTIATE_TEST_SUITE_P(Maps, LookUps, testing::Range(0, 9));

TEST_P(LookUps, GiveTheHelpersAnswers) {
  ASSERT_TRUE(twins_.take(count_in(GetParam()), 1));
  for (int i = 0; i < 1'500; ++i) ASSERT_EQ(difference(), "") << i;
  EXPECT_EQ(twins_.figures().faults, 0u);
}

TEST_P(LookUps, GiveTheHelpersAnswersInMemoryThatSomebodyElseHasSpoilt) {
  ASSERT_TRUE(twins_.take(count_in(GetParam()), 1));
  const bpf::MapLayout map = twins_.map(static_cast<std::size_t>(GetParam()));
  for (int i = 0; i < 3'000; ++i) {
    const std::uint64_t word = map.place + 8 * static_cast<std::uint64_t>(below(static_cast<int>(map.bytes / 8)));
    const auto index = static_cast<std::uint64_t>(below(70));
    const std::uint64_t deleted = below(3) == 0 ? bpf::kDeletedElement : 0;
    if (below(3) == 0) twins_.spoil(word, below(4) == 0 ? random_() : random_() << 32 | deleted | index);
    ASSERT_EQ(difference(), "") << i;
  }
}

TEST(LookUp, AMapThatWasNotExpectedThereIsLookedUpAllTheSame) {
  Twins twins(wishes());
  // Which of the two it is, the event says.
  const Code code = Code{load(BPF_W, 7, 1, 8), put(BPF_DW, 10, -8, 0)} + map(1, 6) + Code{jump(BPF_JEQ, 7, 0, 2)} +
                    map(1, 7) +
                    Code{copy(2, 10), alu(BPF_ADD, 2, -8), call(BPF_FUNC_map_lookup_elem), alu(BPF_ADD, 0, 1), leave()};
  ASSERT_TRUE(twins.take(code, 1));
  const std::uint64_t first = bpf::window_address(bpf::kFirstMapWindow + 6) + 1;
  EXPECT_EQ(twins.run(event_of(0, Do::kCount)), first);
  EXPECT_EQ(twins.run(event_of(1, Do::kCount)), bpf::window_address(bpf::kFirstMapWindow + 7) + 1);
  EXPECT_EQ(twins.difference(event_of(0, Do::kCount)), "");
}

TEST(LookUp, AKeyThatIsInNoWindowIsAFault) {
  Twins twins(wishes());
  ASSERT_TRUE(twins.take(map(1, 6) + Code{set(2, 5), call(BPF_FUNC_map_lookup_elem), leave()}, 1));
  EXPECT_EQ(twins.difference(""), "");
  EXPECT_EQ(twins.figures().faults, 1u);
  const Code half = map(1, 1) + Code{copy(2, 10), alu(BPF_ADD, 2, -4), call(BPF_FUNC_map_lookup_elem), leave()};
  ASSERT_TRUE(twins.take(half, 1));
  EXPECT_EQ(twins.difference(""), "") << "half of it lies behind the frame";
  EXPECT_EQ(twins.figures().faults, 1u);
}

TEST(LookUp, ArgumentsAreGoneBehindIt) {
  Twins twins(wishes());
  const Code code = map(1, 6) + Code{put(BPF_DW, 10, -8, 0),
                                     copy(2, 10),
                                     alu(BPF_ADD, 2, -8),
                                     set(3, 3),
                                     set(4, 4),
                                     set(5, 5),
                                     call(BPF_FUNC_map_lookup_elem),
                                     copy(0, 1),
                                     alu_r(BPF_OR, 0, 2),
                                     alu_r(BPF_OR, 0, 3),
                                     alu_r(BPF_OR, 0, 4),
                                     alu_r(BPF_OR, 0, 5),
                                     leave()};
  ASSERT_TRUE(twins.take(code, 1));
  EXPECT_EQ(twins.run(), 0u);
}

// How often the helper was called.
int asked = 0;
std::uint64_t count_and_look_up(bpf::Execution& run, std::uint64_t a, std::uint64_t b, std::uint64_t, std::uint64_t,
                                std::uint64_t) {
  ++asked;
  return bpf::helpers::map_lookup(run, a, b, 0, 0, 0);
}

class OneMap {
 public:
  explicit OneMap(const bpf_objects::MapWish& wish)
      : maps_({wish}),
        program_(maps_.layouts, Code{load(BPF_DW, 7, 1, 8), store(BPF_DW, 10, -8, 7)} + map(1, 0) +
                                    Code{copy(2, 10), alu(BPF_ADD, 2, -8), call(BPF_FUNC_map_lookup_elem), leave()}) {
    area_.put(code_of(program_));
    table_.at[BPF_FUNC_map_lookup_elem] = count_and_look_up;
  }
  void add(std::uint64_t key) const { hash().update(&key, &key, 0, 0); }
  [[nodiscard]] bpf::Hash hash() const { return {maps_.data, maps_.layouts[0]}; }
  // Whether it is there.
  bool look_up(std::uint64_t key) {
    bpf::TestPlace place;
    bpf::Running<1> running(program_.program(), maps_.data, place, reinterpret_cast<const std::byte*>(&key),
                            sizeof key);
    running.run.helpers = table_.at;
    const auto code = reinterpret_cast<bpf::EntryPoint>(area_.begin() + TestCodeArea::kAt);
    const std::uint64_t value = code(running.run);
    return running.run.readable(value, 8) != nullptr;
  }
  // Of the bucket that key 0 is in.
  std::vector<std::uint32_t> neighbours(std::size_t count) {
    const std::uint32_t buckets = maps_.layouts[0].buckets;
    const auto bucket = [&](std::uint32_t key) { return bpf::hash_bytes(&key, sizeof key) & (buckets - 1); };
    std::vector<std::uint32_t> found;
    for (std::uint32_t key = 0; found.size() < count; ++key)
      if (bucket(key) == bucket(0)) found.push_back(key);
    return found;
  }

 private:
  bpf::TestMaps maps_;
  bpf::TestProgram program_;
  TestCodeArea area_;
  bpf::HelperTable table_ = bpf::kHelpers;
};

TEST(LookUp, TheFirstTwoOfAChainAreFoundWithoutTheHelper) {
  OneMap map({bpf::kHash, 4, 8, 64, 0});
  const std::vector<std::uint32_t> keys = map.neighbours(4);
  asked = 0;
  EXPECT_FALSE(map.look_up(keys[0]));
  for (std::size_t i = 0; i < 3; ++i) map.add(keys[i]);
  EXPECT_TRUE(map.look_up(keys[2])) << "the newest is in front";
  EXPECT_TRUE(map.look_up(keys[1]));
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(map.look_up(keys[0]));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(map.look_up(keys[3]));
  EXPECT_EQ(asked, 2);
  map.hash().remove(&keys[2]);
  map.hash().remove(&keys[1]);
  EXPECT_FALSE(map.look_up(keys[3])) << "the chain ends behind the first";
  EXPECT_EQ(asked, 2);
}

TEST(LookUp, AnArrayNeedsNoHelper) {
  OneMap map({bpf::kArray, 4, 8, 5, 0});
  asked = 0;
  EXPECT_TRUE(map.look_up(0));
  EXPECT_TRUE(map.look_up(4));
  EXPECT_FALSE(map.look_up(5));
  EXPECT_FALSE(map.look_up(0xffffffff));
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace landtrace::bpf_code
