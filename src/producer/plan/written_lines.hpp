// Which cache lines of a domain's segments events write to, for tests: two CPUs that write to one line wait for each
// other, however far apart in it their words are.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "plan/test_domain.hpp"

namespace landtrace::plan {

class WrittenLines {
 public:
  static constexpr std::size_t kLine = 64;
  static constexpr std::uint32_t kWriters = 4;

  // Writers on CPUs of their own, each with a slot: what they write is the same as if they ran at once. Restartable
  // sequences in areas that no kernel knows are plain code.
  explicit WrittenLines(TestDomain& domain) : domain_(domain) {
    for (std::uint32_t i = 0; i < kWriters; ++i) {
      domain.data().threads[i] = {.section = 0, .tid = 1 + i, .pid = TestDomain::kPid};
      areas_[i].cpu_id_start = areas_[i].cpu_id = i;
    }
  }

  [[nodiscard]] Thread writer(std::uint32_t i) {
    return {&domain_.data().threads[i],
            {&areas_[i], static_cast<arch::RawClock>(domain_.control().raw_clock)},
            1 + i,
            1 + i,
            /*is_proxy=*/false};
  }

  // The lines of each writer, numbered through both segments, whose bytes are others after what it does. It has done
  // it once before: a thread's or a key's first event may take something from what all share.
  std::vector<std::set<std::size_t>> of_each(const std::function<void(const Thread&, std::uint32_t writer)>& act) {
    for (std::uint32_t i = 0; i < kWriters; ++i) act(writer(i), i);
    std::vector<std::set<std::size_t>> lines;
    for (std::uint32_t i = 0; i < kWriters; ++i) {
      const Pages before = pages();
      act(writer(i), i);
      lines.push_back(differing(before, pages()));
    }
    return lines;
  }

  static std::size_t shared(const std::vector<std::set<std::size_t>>& lines) {
    std::size_t count = 0;
    for (std::size_t a = 0; a < lines.size(); ++a) {
      for (std::size_t b = a + 1; b < lines.size(); ++b) {
        std::vector<std::size_t> both;
        std::ranges::set_intersection(lines[a], lines[b], std::back_inserter(both));
        count += both.size();
      }
    }
    return count;
  }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  using Page = std::array<std::byte, kPageBytes>;
  using Pages = std::map<std::size_t, Page>;

  // All that anybody has written to or read so far; what is not there is zeros.
  [[nodiscard]] Pages pages() const {
    Pages all;
    add(all, reinterpret_cast<std::byte*>(&domain_.control()), TestDomain::kControlSize, 0);
    add(all, reinterpret_cast<std::byte*>(&domain_.data()), domain_.reserve(0), TestDomain::kControlSize);
    return all;
  }
  static void add(Pages& all, std::byte* from, std::size_t size, std::size_t at) {
    std::vector<unsigned char> is_there((size + kPageBytes - 1) / kPageBytes);
    EXPECT_EQ(::mincore(from, size, is_there.data()), 0);
    for (std::size_t i = 0; i < is_there.size(); ++i) {
      if ((is_there[i] & 1) != 0) std::memcpy(all[at / kPageBytes + i].data(), from + i * kPageBytes, kPageBytes);
    }
  }
  static std::set<std::size_t> differing(const Pages& before, const Pages& after) {
    constexpr Page kZeros{};
    std::set<std::size_t> lines;
    for (const auto& [number, page] : after) {
      const auto old = before.find(number);
      const Page& was = old == before.end() ? kZeros : old->second;
      for (std::size_t at = 0; at < kPageBytes; at += kLine) {
        if (std::memcmp(page.data() + at, was.data() + at, kLine) == 0) continue;
        lines.insert((number * kPageBytes + at) / kLine);
      }
    }
    return lines;
  }

  TestDomain& domain_;
  std::array<arch::RseqArea, kWriters> areas_{};
};

}  // namespace landtrace::plan
