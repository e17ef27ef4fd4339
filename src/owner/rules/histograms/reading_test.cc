// Histograms read beside what the domain does otherwise.
#include "rules/histograms/reading.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "ipc/histogram_table.hpp"
#include "rules/test_long_reads.hpp"
#include "rules/test_rules.hpp"

namespace landtrace::rules {
namespace {

// Counts how often it is asked.
class CountedNames : public AddressNames {
 public:
  explicit CountedNames(int& asked) : asked_(asked) {}
  std::string symbol(std::uint64_t address) override {
    ++asked_;
    return fmt::format("f{:x}", address);
  }
  std::string symbol_with_offset(std::uint64_t address) override { return symbol(address) + "+0x0"; }
  std::string frame(std::uint64_t address, bool) override { return symbol(address); }

 private:
  int& asked_;
};

class HistogramReadingTest : public RulesFixture {
 protected:
  HistogramReadingTest() { event_ = make("e u32 id; u64 v; char[8] name"); }

  void emit(std::uint32_t id, std::uint64_t v = 1, std::string name = "a") {
    name.resize(8, '\0');
    write(0, id, v, name);
  }
  void emit_many(std::uint32_t count) {
    for (std::uint32_t id = 0; id < count; ++id) emit(id, id % 7, id % 2 == 0 ? "even" : "odd");
  }
  HistogramReading reading() { return rules_.histograms().reading(top(), *event_); }
  std::string at_once(ReadHistograms read = text_of) {
    CountedNames names(asked_);
    return read(reading(), names, {});
  }
  std::unique_ptr<LongReads::Awaited> begin(ReadHistograms read = text_of) {
    return rules_.long_reads().begin(source_of(*domain_, reading(), std::make_unique<CountedNames>(asked_), read));
  }
  std::string beside(ReadHistograms read = text_of) { return *wait_for(*domain_, *begin(read)); }
  std::uint64_t room() {
    EXPECT_TRUE(domain_->grace().drain(std::chrono::seconds(60)));
    return domain_->users().free_bytes();
  }

  Event* event_ = nullptr;
  int asked_ = 0;
};

TEST_F(HistogramReadingTest, SaysTheSameBesideTheDomainAsAtOnce) {
  for (const char* const command :
       {"hist:keys=id:vals=v:size=8192", "hist:keys=id.hex,name:vals=v.hex:sort=name,id.descending:size=8192",
        "hist:keys=name:vals=v", "hist:keys=id:x=v:onmax($x).save(id,name):size=8192",
        "hist:keys=common_pid.execname,id.log2", "hist:keys=id.sym,v.sym-offset:size=8192",
        "hist:keys=id.buckets=100:sort=id"}) {
    ASSERT_EQ(apply(event_, command), 0) << command;
  }
  emit_many(5000);
  EXPECT_EQ(beside(), at_once());
  EXPECT_EQ(beside(tables_of), at_once(tables_of));
}

TEST_F(HistogramReadingTest, IsLongFromSomeThousandRowsOn) {
  ASSERT_EQ(apply(event_, "hist:keys=id:size=8192"), 0);
  emit_many(HistogramReading::kMostAtOnce);
  EXPECT_FALSE(reading().is_long());
  emit(HistogramReading::kMostAtOnce);
  EXPECT_TRUE(reading().is_long());
}

TEST_F(HistogramReadingTest, BelievesNoTableThatItHasMoreRowsThanRoom) {
  ASSERT_EQ(apply(event_, "hist:keys=id:size=128"), 0);
  emit(1);
  const HistogramReading all = reading();
  for (std::byte* const segment : all.segments) {
    auto& header = *reinterpret_cast<hist::TableHeader*>(segment + all.histograms[0].range->offset);
    header.taken = ~0ull;
  }
  EXPECT_EQ(all.rows(), 128 * all.segments.size());
  EXPECT_NE(at_once().find("Entries: 1\n"), std::string::npos);
}

// Each function's name is asked for once, however many rows have it.
TEST_F(HistogramReadingTest, TakesTheDomainOnceForAName) {
  ASSERT_EQ(apply(event_, "hist:keys=v.sym,id:size=8192"), 0);
  emit_many(5000);
  EXPECT_EQ(beside(), at_once());
  EXPECT_EQ(asked_, 7 + 5000);
}

// The rows as they are written down independently of the code that reads them.
TEST_F(HistogramReadingTest, ShowsEachRowInItsOrder) {
  ASSERT_EQ(apply(event_, "hist:keys=id:vals=v:sort=v.descending,id:size=16384"), 0);
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> counted;
  for (std::uint32_t i = 0; i < 12'000; ++i) {
    const std::uint32_t id = i * 2654435761u >> 18;
    const std::uint64_t v = i % 11 == 0 ? 123'456'789'012 : i % 5;
    emit(id, v);
    ++counted[id].first;
    counted[id].second += v;
  }
  ASSERT_GT(counted.size(), HistogramReading::kMostAtOnce);
  std::vector<std::pair<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>> rows(counted.begin(), counted.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  std::string wanted;
  for (const auto& [id, sums] : rows) {
    wanted += fmt::format("{{ id: {:10} }} hitcount: {:10}  v: {:10}\n", id, sums.first, sums.second);
  }
  const std::string text = beside();
  EXPECT_NE(text.find("\n\n" + wanted + "\nTotals:\n    Hits: 12000\n"), std::string::npos);
}

// More rows than a kernel's histogram can have: those that compare equal are in the order of their keys' bytes.
TEST_F(HistogramReadingTest, RowsBeyondTheKernelsLimitStayInTheirOrderWhereTheyAreEqual) {
  ASSERT_EQ(apply(event_, "hist:keys=v:sort=hitcount.descending:size=262144"), 0);
  constexpr std::uint64_t kRows = 140'000;
  const auto key_of = [](std::uint64_t i) { return __builtin_bswap64(i); };
  for (std::uint64_t i = 0; i < kRows; ++i) emit(0, key_of(i));
  emit(0, key_of(7));
  std::string wanted = fmt::format("{{ v: {:10} }} hitcount: {:10}\n", key_of(7), 2);
  for (std::uint64_t i = 0; i < kRows; ++i) {
    if (i != 7) wanted += fmt::format("{{ v: {:10} }} hitcount: {:10}\n", key_of(i), 1);
  }
  EXPECT_NE(beside().find("\n\n" + wanted + "\nTotals:"), std::string::npos);
}

TEST_F(HistogramReadingTest, AHistogramThatIsClearedMeanwhileIsReadToItsEnd) {
  const std::uint64_t before = room();
  ASSERT_EQ(apply(event_, "hist:keys=id:vals=v:size=8192"), 0);
  const std::uint64_t with_one = room();
  emit_many(5000);
  const std::string counted = at_once();
  HeldUp held(rules_.long_reads());
  held.wait_until_begun();
  const auto text = begin();
  ASSERT_EQ(apply(event_, "hist:keys=id:vals=v:size=8192:clear"), 0);
  EXPECT_LT(room(), with_one) << "what is to be read is nobody else's yet";
  emit(1);
  held.let_go_on();
  EXPECT_EQ(*wait_for(*domain_, *text), counted);
  EXPECT_EQ(room(), with_one);
  EXPECT_NE(at_once().find("Entries: 1\n"), std::string::npos);
  ASSERT_EQ(apply(event_, "!hist:keys=id:vals=v:size=8192"), 0);
  EXPECT_EQ(room(), before);
}

TEST_F(HistogramReadingTest, AHistogramThatIsTakenAwayMeanwhileIsReadToItsEnd) {
  const std::uint64_t before = room();
  ASSERT_EQ(apply(event_, "hist:keys=id:vals=v:size=8192"), 0);
  emit_many(5000);
  const std::string counted = at_once();
  HeldUp held(rules_.long_reads());
  held.wait_until_begun();
  const auto text = begin();
  ASSERT_EQ(apply(event_, "!hist:keys=id:vals=v:size=8192"), 0);
  EXPECT_EQ(at_once(), "");
  held.let_go_on();
  EXPECT_EQ(*wait_for(*domain_, *text), counted);
  EXPECT_EQ(room(), before);
}

TEST_F(HistogramReadingTest, WhoGivesUpGivesTheMemoryBack) {
  const std::uint64_t before = room();
  ASSERT_EQ(apply(event_, "hist:keys=id:vals=v:size=8192"), 0);
  emit_many(5000);
  HeldUp held(rules_.long_reads());
  held.wait_until_begun();
  auto text = begin();
  ASSERT_EQ(apply(event_, "!hist:keys=id:vals=v:size=8192"), 0);
  EXPECT_LT(room(), before);
  text.reset();
  EXPECT_EQ(room(), before);
  held.let_go_on();
}

}  // namespace
}  // namespace landtrace::rules
