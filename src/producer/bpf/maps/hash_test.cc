#include "bpf/maps/hash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <random>
#include <thread>
#include <unordered_map>

#include "bpf/test_run.hpp"

namespace landtrace::bpf {
namespace {

using bpf_objects::MapWish;

std::uint64_t value_at(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_RELAXED);
}

int put(const Hash& hash, std::uint64_t key, std::uint64_t value, std::uint64_t flags = BPF_ANY) {
  return hash.update(&key, &value, 0, flags);
}
std::optional<std::uint64_t> get(const Hash& hash, std::uint64_t key) {
  const std::byte* const at = hash.find(&key, 0);
  return at == nullptr ? std::nullopt : std::optional(value_at(at));
}

std::vector<std::uint64_t> keys_of(const Hash& hash) {
  std::vector<std::uint64_t> keys;
  std::uint64_t key = 0;
  for (int more = hash.next(nullptr, &key); more == 0 && keys.size() < 10'000; more = hash.next(&key, &key))
    keys.push_back(key);
  return keys;
}

TEST(BpfHash, UpdatesAsTheirFlagsSay) {
  const TestMaps maps({MapWish{kHash, 8, 8, 4, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  EXPECT_EQ(put(hash, 1, 10, BPF_EXIST), -ENOENT);
  EXPECT_EQ(put(hash, 1, 10, BPF_NOEXIST), 0);
  EXPECT_EQ(put(hash, 1, 11, BPF_NOEXIST), -EEXIST);
  EXPECT_EQ(get(hash, 1), 10u);
  EXPECT_EQ(put(hash, 1, 12, BPF_EXIST), 0);
  EXPECT_EQ(get(hash, 1), 12u);
  EXPECT_EQ(put(hash, 1, 12, 7), -EINVAL);
  EXPECT_EQ(get(hash, 2), std::nullopt);
}

TEST(BpfHash, AFullOneTakesAKeyWhenAnotherHasGone) {
  const TestMaps maps({MapWish{kHash, 8, 8, 4, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  for (std::uint64_t key = 0; key < 4; ++key) EXPECT_EQ(put(hash, key, key), 0);
  EXPECT_EQ(put(hash, 4, 4), -E2BIG);
  EXPECT_EQ(hash.header().dropped, 1u);
  const std::uint64_t gone = 2;
  EXPECT_EQ(hash.remove(&gone), 0);
  EXPECT_EQ(hash.remove(&gone), -ENOENT);
  EXPECT_EQ(put(hash, 4, 40), 0);
  EXPECT_THAT(keys_of(hash), testing::UnorderedElementsAre(0, 1, 3, 4));
}

TEST(BpfHash, KeysOfAnySizeAreComparedWhole) {
  const TestMaps maps({MapWish{kHash, 13, 8, 64, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  for (int i = 0; i < 13; ++i) {
    char key[16] = "aaaaaaaaaaaaa";
    key[i] = 'b';
    const std::uint64_t value = 100 + static_cast<std::uint64_t>(i);
    EXPECT_EQ(hash.update(key, &value, 0, BPF_NOEXIST), 0);
  }
  char key[16] = "aaaaaaaaaaaab";
  EXPECT_EQ(value_at(hash.find(key, 0)), 112u);
  key[13] = 'x';
  EXPECT_NE(hash.find(key, 0), nullptr) << "what is behind the key does not count";
}

TEST(BpfHash, DoesWhatAMapDoes) {
  const TestMaps maps({MapWish{kHash, 8, 8, 64, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  std::unordered_map<std::uint64_t, std::uint64_t> known;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = random() % 96;
    if (random() % 3 == 0) {
      EXPECT_EQ(hash.remove(&key), known.erase(key) != 0 ? 0 : -ENOENT);
      continue;
    }
    const bool fits = known.count(key) != 0 || known.size() < 64;
    EXPECT_EQ(put(hash, key, random()), fits ? 0 : -E2BIG);
    if (fits) known[key] = *get(hash, key);
  }
  for (const auto& [key, value] : known) EXPECT_EQ(get(hash, key), value);
  EXPECT_EQ(keys_of(hash).size(), known.size());
}

TEST(BpfHash, ALeastRecentlyUsedOneKeepsWhatIsLookedAt) {
  const TestMaps maps({MapWish{kLruHash, 8, 8, 32, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  for (std::uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(put(hash, key, key), 0);
    EXPECT_TRUE(get(hash, 0).has_value()) << "after " << key;
  }
  EXPECT_EQ(keys_of(hash).size(), 32u);
}

TEST(BpfHash, RowsOfANewKeyAreZero) {
  const TestMaps maps({MapWish{kPercpuHash, 8, 8, 4, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  const std::uint64_t key = 1, value = 5, other = 2;
  EXPECT_EQ(hash.update(&key, &value, 1, BPF_ANY), 0);
  EXPECT_EQ(value_at(hash.find(&key, 0)), 0u);
  EXPECT_EQ(value_at(hash.find(&key, 1)), 5u);
  EXPECT_EQ(hash.remove(&key), 0);
  EXPECT_EQ(hash.update(&other, &value, 0, BPF_ANY), 0);
  EXPECT_EQ(value_at(hash.find(&other, 1)), 0u);
}

// All threads insert and remove the same few keys: of each there are as many as were inserted and not removed.
TEST(BpfHash, ThreadsFindEachKeyOnceAndLoseNothing) {
  constexpr std::uint64_t kKeys = 8;
  constexpr int kThreads = 4, kRounds = 30'000;
  const TestMaps maps({MapWish{kHash, 8, 8, 64, 0}});
  const Hash hash(maps.data, maps.layouts[0]);
  std::atomic<int> there[kKeys] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<std::uint64_t>(t));
      for (int i = 0; i < kRounds; ++i) {
        const std::uint64_t key = random() % kKeys;
        if (random() % 2 == 0) {
          if (put(hash, key, key * 1000, BPF_NOEXIST) == 0) ++there[key];
        } else if (hash.remove(&key) == 0) {
          --there[key];
        }
        // Keys share no elements: a value is always one of the map's, though perhaps another key's by now.
        if (const auto value = get(hash, key)) {
          EXPECT_EQ(*value % 1000, 0u);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::uint64_t> expected;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    ASSERT_THAT(there[key].load(), testing::AnyOf(0, 1));
    if (there[key] == 1) expected.push_back(key);
  }
  EXPECT_THAT(keys_of(hash), testing::UnorderedElementsAreArray(expected));
  // No element was lost on the way.
  for (std::uint64_t key = 100; key < 100 + 64 - expected.size(); ++key) EXPECT_EQ(put(hash, key, 0), 0);
}

// Whoever writes to the map's memory breaks the map, and nothing else.
TEST(BpfHash, GarbageEndsNoSearchOutsideOfTheMap) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const TestMaps maps({MapWish{round % 2 == 0 ? kHash : kLruHash, 8, 8, 16, 0}});
    const MapLayout& layout = maps.layouts[0];
    const Hash hash(maps.data, layout);
    for (std::uint64_t key = 0; key < 12; ++key) put(hash, key, key);
    for (int i = 0; i < 40; ++i) {
      auto* const word = reinterpret_cast<std::uint64_t*>(maps.data + layout.place + random() % (layout.bytes / 8) * 8);
      *word = random() % 2 == 0 ? random() : random() % 20;
    }
    for (int i = 0; i < 100; ++i) {
      std::uint64_t key = random() % 20;
      const std::byte* const at = hash.find(&key, 0);
      if (at != nullptr) {
        EXPECT_GE(at, maps.data + layout.place + layout.window_at);
        EXPECT_LE(at + 8, maps.data + layout.place + layout.window_at + layout.window_bytes);
      }
      put(hash, key, 1);
      hash.remove(&key);
      hash.next(&key, &key);
    }
  }
}

}  // namespace
}  // namespace landtrace::bpf
