#include "metrics/figures.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "domain/proxy.hpp"
#include "host/server.hpp"

namespace landtrace::metrics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FiguresTest : public testing::Test {
 protected:
  FiguresTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "landtrace-metrics-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    server_ = *host::Server::create(*domain_, rules_, folder_ + "/domain.sock");
    thread_ = std::thread([this] { server_->run(); });
  }
  ~FiguresTest() override {
    server_->stop();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  void make_event() {
    const auto access = domain_->enter();
    const domain::FileId file = *domain_->registrar().open_file(::getuid());
    const auto made = domain_->events().register_event("e u64 id", 0, ::getuid());
    std::ignore = domain_->files().add_event(file, *made->event);
    file_ = file;
  }
  void emit(std::uint64_t id) {
    struct {
      std::uint32_t index;
      std::uint64_t id;
    } __attribute__((packed)) event{0, id};
    const iovec vector{&event, sizeof event};
    ASSERT_TRUE(proxy_.write(file_, 1, ::getuid(), {&vector, 1}));
  }
  void write(const std::string& path, const std::string& text) {
    auto tree = ipc::TreeClient::connect(folder_ + "/domain.sock");
    ASSERT_TRUE(tree);
    ASSERT_TRUE(tree->open(path, O_WRONLY | O_APPEND)) << path;
    ASSERT_TRUE(tree->write(text)) << text;
  }
  Figures ask() {
    auto asker = Asker::connect(folder_ + "/domain.sock");
    EXPECT_TRUE(asker);
    auto figures = asker->ask();
    EXPECT_TRUE(figures) << figures.error().message;
    return figures ? *figures : Figures{};
  }

  std::string folder_;
  std::unique_ptr<domain::Domain> domain_ = *domain::Domain::create({.ring_bytes = 1 << 18, .owner_uid = ::getuid()});
  rules::Rules rules_{*domain_};
  domain::Proxy proxy_{*domain_};
  domain::FileId file_{};
  std::unique_ptr<host::Server> server_;
  std::thread thread_;
};

std::uint64_t recorded(const Figures& figures, const std::string& instance) {
  std::uint64_t sum = 0;
  for (const RingFigures& ring : figures.rings) sum += ring.instance == instance ? ring.stats.entries : 0;
  return sum;
}

TEST_F(FiguresTest, AnEmptyDomainHasItsRings) {
  const Figures figures = ask();
  EXPECT_FALSE(figures.rings.empty());
  EXPECT_EQ(figures.enabled, 0u);
  EXPECT_THAT(figures.histograms, IsEmpty());
  EXPECT_THAT(figures.probes, IsEmpty());
}

TEST_F(FiguresTest, EventsThatAreThereAndThoseThatAreEnabled) {
  const std::uint64_t before = ask().events;
  make_event();
  EXPECT_EQ(ask().events, before + 1);
  EXPECT_EQ(ask().enabled, 0u);
  write("events/user_events/e/enable", "1");
  EXPECT_EQ(ask().enabled, 1u);
}

TEST_F(FiguresTest, RecordedEventsByInstance) {
  make_event();
  write("events/user_events/e/enable", "1");
  auto tree = ipc::TreeClient::connect(folder_ + "/domain.sock");
  ASSERT_TRUE(tree->make_folder("instances/box"));
  write("instances/box/events/user_events/e/enable", "1");
  emit(1);
  write("events/user_events/e/enable", "0");
  emit(2);
  const Figures figures = ask();
  EXPECT_EQ(recorded(figures, ""), 1u);
  EXPECT_EQ(recorded(figures, "box"), 2u);
}

TEST_F(FiguresTest, HistogramsOfAllEventsInAllInstances) {
  make_event();
  auto tree = ipc::TreeClient::connect(folder_ + "/domain.sock");
  ASSERT_TRUE(tree->make_folder("instances/box"));
  write("events/user_events/e/trigger", "hist:keys=id");
  write("instances/box/events/user_events/e/trigger", "hist:keys=id.log2");
  for (const std::uint64_t id : {7, 8, 7}) emit(id);
  Figures figures = ask();
  ASSERT_EQ(figures.histograms.size(), 2u);
  std::sort(figures.histograms.begin(), figures.histograms.end(),
            [](const HistogramFigures& a, const HistogramFigures& b) { return a.instance < b.instance; });
  EXPECT_EQ(figures.histograms[0].event, "user_events:e");
  EXPECT_EQ(figures.histograms[0].instance, "");
  EXPECT_EQ(figures.histograms[0].table.hits, 3u);
  EXPECT_EQ(figures.histograms[0].table.rows.size(), 2u);
  EXPECT_EQ(figures.histograms[1].instance, "box");
  EXPECT_EQ(figures.histograms[1].table.rows.size(), 1u);
}

// More than one answer holds.
TEST_F(FiguresTest, ManyHistogramsAreAllThere) {
  constexpr std::size_t kMany = 900;
  const std::string long_name(200, 'n');
  for (std::size_t i = 0; i < kMany; ++i) {
    const auto access = domain_->enter();
    ASSERT_TRUE(domain_->registrar().register_native(long_name + std::to_string(i) + " u64 id", domain::kPersist, 0));
  }
  auto tree = ipc::TreeClient::connect(folder_ + "/domain.sock");
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_TRUE(tree->open("events/user_events/" + long_name + std::to_string(i) + "/trigger", O_WRONLY | O_APPEND));
    ASSERT_TRUE(tree->write("hist:keys=common_pid:size=128"));
  }
  std::vector<std::string> events;
  for (const HistogramFigures& each : ask().histograms) events.push_back(each.event);
  EXPECT_EQ(events.size(), kMany);
  std::sort(events.begin(), events.end());
  EXPECT_EQ(std::unique(events.begin(), events.end()), events.end());
}

TEST_F(FiguresTest, EventsAreCountedByNameAsLongAsSomebodyAsks) {
  make_event();
  {
    auto asker = Asker::connect(folder_ + "/domain.sock", {"nobody", "user_events:?"});
    ASSERT_TRUE(asker);
    for (const std::uint64_t id : {7, 8, 7}) emit(id);
    for (const char* const later : {"f u64 id", "long u64 id"}) {
      const auto access = domain_->enter();
      ASSERT_TRUE(domain_->registrar().register_native(later, domain::kPersist, 0));
    }
    Figures figures = *asker->ask();
    ASSERT_EQ(figures.counted.size(), 2u);
    std::sort(figures.counted.begin(), figures.counted.end(),
              [](const EventFigures& a, const EventFigures& b) { return a.event < b.event; });
    EXPECT_EQ(figures.counted[0].event, "user_events:e");
    EXPECT_EQ(figures.counted[0].count, 3u);
    EXPECT_EQ(figures.counted[1].event, "user_events:f") << "it came later";
    EXPECT_EQ(figures.counted[1].count, 0u);
    EXPECT_EQ(recorded(figures, ""), 0u) << "counted is not recorded";
    EXPECT_EQ(figures.enabled, 2u);
    EXPECT_THAT(figures.histograms, IsEmpty()) << "what counts them is nobody's histogram";
  }
  while (ask().enabled > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(Asker::connect(folder_ + "/domain.sock", {":"}).error().code, EINVAL);
}

TEST_F(FiguresTest, NobodyThere) { EXPECT_EQ(Asker::connect(folder_ + "/none.sock").error().code, ENOENT); }

}  // namespace
}  // namespace landtrace::metrics
