// soak MINUTES [SEED]: an owner, and producers of every kind that are killed, stopped, forked and moved, while somebody
// records, resizes, takes snapshots and counts in histograms. Round by round: what the producers say that they emitted
// is what was recorded and what was counted as lost, and nothing is torn, twice or out of order.
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <landtrace/control.hpp>

#include "arch/clock.hpp"
#include "check.hpp"
#include "consumer/collector.hpp"
#include "crowd.hpp"

namespace landtrace::soak {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kEvent = "user_events:soak";
constexpr int kPatience_s = 30;
// While others have the CPUs a producer may take more than half a minute to reap its children: before it had "get rid
// of busy-waiting in shrink_dcache_tree()" Linux (6.18) spins in wait4() until somebody else has let go of the child's
// entries in /proc, and who has them gets no CPU either.
constexpr int kPatienceWithEnds_s = 150;

struct Sums {
  std::uint64_t emitted = 0, recorded = 0, lost = 0, kills = 0, owners_killed = 0, rounds = 0;
  std::uint64_t unread = 0;  // emitted into rings of an owner that was killed, after these had been read
  std::map<Kind, std::uint64_t> by_kind;
};

class Owner {
 public:
  explicit Owner(const Places& places) : places_(places) { begin(); }
  ~Owner() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void begin() {
    Command command{{LANDTRACE_DAEMON, "--socket", places_.socket}, {}};
    if (!places_.mount.empty()) {
      ::umount2(places_.mount.c_str(), MNT_DETACH);  // what a killed owner left
      command.words.insert(command.words.end(), {"--mount", places_.mount});
    }
    pid_ = start(command);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  const Places& places_;
  pid_t pid_ = -1;
};

// Connects as soon as the owner serves.
std::optional<consumer::DomainView> connect(const std::string& socket) {
  const auto end = Clock::now() + std::chrono::seconds(kPatience_s);
  while (Clock::now() < end) {
    if (auto view = consumer::DomainView::connect(socket)) return *std::move(view);
    ::usleep(1000);
  }
  return std::nullopt;
}

// What others do with the domain in the meantime.
class Neighbour {
 public:
  Neighbour(std::string socket, std::uint32_t seed)
      : socket_(std::move(socket)), random_(seed), thread_([this] { run(); }) {}
  ~Neighbour() {
    is_over_ = true;
    thread_.join();
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

 private:
  void run() {
    Control control;
    while (!is_over_) {
      if (control.is_open() || control.open(socket_) == 0) disturb(control);
      if (control.failure().code == EPIPE) control.close();
      std::this_thread::sleep_for(milliseconds(20 + random_() % 50));
    }
  }
  // Whatever cannot be done at the moment is refused; that is as good.
  void disturb(Control& control) {
    const std::string instance = fmt::format("soak{}", random_() % 2);
    const std::string folder = "instances/" + instance + "/";
    std::string text;
    switch (random_() % 9) {
      case 0:
        control.make_instance(instance);
        break;
      case 1:
        control.remove_instance(instance);
        break;
      case 2:
        control.enable(kEvent, random_() % 2 == 0, instance);
        break;
      case 3:
        control.write(folder + "buffer_size_kb", std::to_string(4 << random_() % 8) + "\n");
        break;
      case 4:
        control.write(folder + "snapshot", std::to_string(random_() % 3) + "\n");
        break;
      case 5:
        control.add_trigger(kEvent, "hist:keys=kind:vals=sequence if source & 1", instance);
        break;
      case 6:
        control.remove_trigger(kEvent, "hist:keys=kind:vals=sequence if source & 1", instance);
        break;
      case 7:
        control.set_filter(kEvent, fmt::format("sequence & {}", 1 + random_() % 255), instance);
        break;
      case 8:
        control.read(folder + "per_cpu/cpu0/stats", text);
        break;
    }
  }

  std::string socket_;
  std::minstd_rand random_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;  // the last member: it uses the others
};

class Round {
 public:
  Round(const Places& places, Progress& progress, Owner& owner, std::minstd_rand& random)
      : places_(places),
        progress_(progress),
        owner_(owner),
        random_(random),
        crowd_(places, random),
        check_(progress) {}

  // Empty, or what was wrong.
  std::vector<std::string> run(Sums& sums) {
    kills_owner_ = random_() % 8 == 0;
    begin_progress();
    counts_ = random_() % 4 == 0;
    if (kills_owner_) crowd_.avoid_mounts();
    if (!open()) return {"nobody serves the domain"};
    const Neighbour neighbour(places_.socket, static_cast<std::uint32_t>(random_()));
    for (std::uint32_t i = 0; i < 2 + random_() % 5; ++i) crowd_.add();
    const auto length = milliseconds(300 + random_() % 2500);
    record_for(length);
    if (kills_owner_) {
      change_owner();
      record_for(length);
    }
    end();
    judge();
    add_to(sums);
    return std::move(wrong_);
  }

 private:
  void begin_progress() {
    const std::uint32_t used = std::min(progress_.sources, Progress::kSources);
    std::memset(progress_.source, 0, used * sizeof(Source));
    progress_.sources = 0;
    __atomic_store_n(&progress_.owner_is_killed, kills_owner_ ? 1 : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&progress_.stop, 0, __ATOMIC_RELAXED);
  }

  bool open() {
    collector_.reset();
    session_.reset();
    view_ = connect(places_.socket);
    if (!view_) return false;
    overwrites_ = random_() % 2 == 0;
    auto session =
        consumer::Session::open(*view_, {.ring_bytes = 1ull << (12 + random_() % 12), .overwrite = overwrites_});
    if (!session) return is_wrong(session.error().message);
    session_ = *std::move(session);
    collector_.emplace(*view_, *session_, check_);
    std::vector<std::string> triggers;
    if (counts_) triggers.emplace_back("hist:keys=kind");
    auto listening = session_->select({.pattern = kEvent, .filter = {}, .triggers = std::move(triggers)});
    return listening || is_wrong(listening.error().message);
  }
  bool is_wrong(std::string what) {
    wrong_.push_back(std::move(what));
    return false;
  }

  void record_for(milliseconds length) {
    const auto end = Clock::now() + length;
    auto next = Clock::now();
    while (Clock::now() < end) {
      const auto drained = overwrites_ ? collector_->look().map([] { return false; }) : collector_->drain();
      if (!drained) is_wrong(drained.error().message);
      if (!drained || !*drained) ::usleep(1000);
      if (Clock::now() < next) continue;
      next = Clock::now() + milliseconds(2 + random_() % 16);
      if (random_() % 8 == 0) {
        crowd_.stop_one();
      } else {
        crowd_.kill_one();
      }
    }
  }

  // What the old owner's rings hold is read; the programs come to the new one by themselves.
  void change_owner() {
    owner_.kill();
    std::ignore = collector_->finish();
    add_totals();
    owner_.begin();
    if (!open()) is_wrong("nobody serves the domain after its owner was killed");
    const std::uint64_t before = check_.events();
    const auto end = Clock::now() + std::chrono::seconds(kPatience_s);
    while (collector_ && check_.events() == before && Clock::now() < end) {
      std::ignore = collector_->drain();
      ::usleep(1000);
    }
    if (check_.events() == before) is_wrong("nobody came to the new owner");
  }

  void end() {
    __atomic_store_n(&progress_.stop, 1, __ATOMIC_RELAXED);
    if (const std::size_t late = crowd_.wait(kPatienceWithEnds_s))
      is_wrong(fmt::format("{} producers did not end", late));
    if (crowd_.failed() > 0) is_wrong(fmt::format("{} producers failed", crowd_.failed()));
    wait_for_orphans();
    if (!collector_) return;
    count_histogram();
    if (auto finished = collector_->finish(); !finished) is_wrong(finished.error().message);
    add_totals();
  }
  // Children of producers that were killed end with these, in their own time.
  void wait_for_orphans() {
    const std::string children = fmt::format("/proc/self/task/{}/children", ::getpid());
    const auto end = Clock::now() + std::chrono::seconds(kPatience_s);
    for (bool any = true; any && Clock::now() < end;) {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      std::ifstream list(children);
      any = false;
      for (pid_t pid; list >> pid;) any = any || pid != owner_.pid();
      if (any) ::usleep(500);
    }
  }

  void count_histogram() {
    if (!counts_) return;
    const auto tables = session_->histograms(kEvent);
    if (!tables) return static_cast<void>(is_wrong("histograms: " + tables.error().message));
    for (const ipc::HistogramTable& table : *tables) counted_ += table.hits;
  }
  void add_totals() {
    const consumer::Totals totals = collector_->totals();
    lost_ += totals.overwritten + totals.discarded + totals.placeless;
    if (totals.corrupt > 0) is_wrong(fmt::format("{} places in rings were corrupt", totals.corrupt));
  }

  void judge() {
    wrong_.insert(wrong_.end(), check_.mistakes().begin(), check_.mistakes().end());
    std::uint64_t refused = 0;
    for (std::uint32_t i = 0; i < std::min(progress_.sources, Progress::kSources); ++i) {
      const Source& source = progress_.source[i];
      taken_ += source.taken;
      open_ += source.begun - source.ended;
      begun_ += source.begun;
      refused += source.refused;
    }
    const std::uint64_t known = check_.events() + lost_;
    const std::string counted = counts_ ? fmt::format(", {} in the histogram", counted_) : "";
    const std::string said = fmt::format("{} emitted ({} in the middle), {} recorded, {} lost{}", taken_, open_,
                                         check_.events(), lost_, counted);
    // With an owner that was killed, what was emitted into its rings after they had been read is nobody's.
    if (kills_owner_) {
      if (known > begun_) is_wrong("more than was emitted: " + said);
      return;
    }
    if (known < taken_ || known > taken_ + open_) is_wrong(said);
    if (counts_ && (counted_ < taken_ || counted_ > taken_ + open_)) is_wrong(said);
    if (refused > 0) is_wrong(fmt::format("{} events were refused", refused));
  }

  void add_to(Sums& sums) const {
    ++sums.rounds;
    sums.emitted += taken_;
    sums.recorded += check_.events();
    sums.lost += lost_;
    sums.unread += kills_owner_ ? taken_ - std::min(taken_, check_.events() + lost_) : 0;
    sums.kills += crowd_.kills();
    sums.owners_killed += kills_owner_ ? 1 : 0;
    for (const auto& [kind, events] : check_.by_kind()) sums.by_kind[kind] += events;
  }

  const Places& places_;
  Progress& progress_;
  Owner& owner_;
  std::minstd_rand& random_;
  Crowd crowd_;
  Check check_;
  std::optional<consumer::DomainView> view_;
  std::optional<consumer::Session> session_;
  std::optional<consumer::Collector> collector_;
  bool overwrites_ = false;
  bool counts_ = false;  // in a histogram, which costs an event more than all else: so not always
  bool kills_owner_ = false;
  std::uint64_t taken_ = 0, open_ = 0, begun_ = 0, lost_ = 0, counted_ = 0;
  std::vector<std::string> wrong_;
};

void print(const Sums& sums) {
  const auto of = [&](Kind kind) {
    const auto found = sums.by_kind.find(kind);
    return found == sums.by_kind.end() ? 0 : found->second;
  };
  fmt::print(
      "{} rounds: {} events emitted = {} recorded + {} lost + {} left in rings of killed owners; {} producers and {} "
      "owners killed\n",
      sums.rounds, sums.emitted, sums.recorded, sums.lost, sums.unread, sums.kills, sums.owners_killed);
  fmt::print("recorded from native producers {}, portable {}, under the shim {}, through a mount {}\n",
             of(Kind::kNative), of(Kind::kPortable), of(Kind::kShim), of(Kind::kMount));
  std::fflush(stdout);
}

std::string made_folder() {
  char name[] = "/tmp/landtrace-soak-XXXXXX";
  return ::mkdtemp(name) == nullptr ? std::string() : name;
}

int soak(double minutes, std::uint32_t seed) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string folder = made_folder();
  Places places{folder, folder + "/domain.sock", folder + "/progress", {}};
  if (::geteuid() == 0 && ::access("/dev/fuse", R_OK | W_OK) == 0) {
    places.mount = folder + "/mount";
    ::mkdir(places.mount.c_str(), 0700);
  } else {
    fmt::print("soak: without a mount, which takes root and /dev/fuse\n");
  }
  Progress* const progress = map_progress(places.progress.c_str(), true);
  if (progress == nullptr) return 2;
  fmt::print("soak: {} minutes, seed {}\n", minutes, seed);
  std::minstd_rand random(seed);
  Sums sums;
  int status = 0;
  {
    Owner owner(places);
    const auto end = Clock::now() + std::chrono::duration<double, std::ratio<60>>(minutes);
    auto next = Clock::now();
    while (Clock::now() < end && status == 0) {
      const auto wrong = Round(places, *progress, owner, random).run(sums);
      for (const std::string& what : wrong) fmt::print("soak: round {}: {}\n", sums.rounds, what);
      status = wrong.empty() ? 0 : 1;
      if (Clock::now() < next) continue;
      next = Clock::now() + std::chrono::minutes(1);
      print(sums);
    }
  }
  print(sums);
  if (!places.mount.empty()) ::umount2(places.mount.c_str(), MNT_DETACH);
  std::filesystem::remove_all(folder);
  return status;
}

}  // namespace
}  // namespace landtrace::soak

int main(int argc, char** argv) {
  const double minutes = argc > 1 ? std::atof(argv[1]) : 1;
  const auto seed = argc > 2 ? static_cast<std::uint32_t>(std::atoll(argv[2])) : std::random_device()();
  if (minutes <= 0) {
    fmt::print(stderr, "usage: soak MINUTES [SEED]\n");
    return 2;
  }
  return landtrace::soak::soak(minutes, seed);
}
