#include "attach/attach.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>

#include "attach/agent_status.hpp"
#include "attach/confinement.hpp"
#include "attach/detour.hpp"
#include "attach/facts.hpp"
#include "attach/program_memory.hpp"
#include "attach/safe_place.hpp"
#include "attach/traced_thread.hpp"

namespace landtrace::attach {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

#if defined(__x86_64__)
constexpr bool kIsThere = true;
#else
constexpr bool kIsThere = false;
#endif

// Where the block is, the program may map something meanwhile: in its middle it is far from where that begins.
constexpr std::uint64_t kLeastHole = 16 * kBlockBytes;
// With code, that are looked through: a program may map one file as often as it likes.
constexpr std::size_t kMostObjects = 4096;

// For the loader of a program that has only begun, where nothing tells whether it is done.
constexpr auto kLoaderPatience = 3s;
// For somebody else who attaches to the same program.
constexpr auto kLockPatience = 10s;
// How long a thread is looked for that stands at a safe place.
constexpr auto kPatience = 5s;
// Of these only the first is for threads that wait without a limit; then running ones have a chance.
constexpr auto kRunningPatience = 300ms;
constexpr auto kSameWait = 20ms;
// For the code to run, and for the loader.
constexpr auto kBeginPatience = 10s;
constexpr auto kLoadPatience = 60s;

bool is_same(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

Result<void> check_not_cancelled(const Request& request, const Facts& facts) {
  if (request.progress != nullptr) ++*request.progress;
  if (request.cancelled == nullptr || !*request.cancelled) return {};
  return fail(ECANCELED, name_of(facts) + " was not attached");
}

// One that attaches at a time: the code's place is for one. The lock is on a file that only those may open who may do
// with the program whatever they like. Others find out later that they may not.
Result<Fd> lock_process(const Request& request, const Facts& facts) {
  Fd memory(::open(fmt::format("/proc/{}/mem", facts.pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!memory) return Fd();
  for (const auto begin = Clock::now(); ::flock(memory.get(), LOCK_EX | LOCK_NB) != 0;) {
    if (Clock::now() - begin > kLockPatience) {
      return fail(EBUSY, fmt::format("{} cannot be attached: somebody else attaches to it just now; try again",
                                     name_of(facts)));
    }
    LT_CHECK(check_not_cancelled(request, facts));
    std::this_thread::sleep_for(1ms);
  }
  return memory;
}

class Attachment {
 public:
  Attachment(const Request& request, Facts facts, ProgramMemory memory)
      : request_(request),
        facts_(std::move(facts)),
        memory_(std::move(memory)),
        confinement_(request.harmless_filters) {}

  Result<Attached> run();

 private:
  [[nodiscard]] tl::unexpected<Error> refuse(int code, const std::string& why) const {
    return fail(code, fmt::format("{} cannot be attached: {}", name_of(facts_), why));
  }
  // A process that ends has no memory any more while it can still be seen.
  [[nodiscard]] tl::unexpected<Error> has_gone() const {
    const auto now = ProgramMemory::open(facts_.pid);
    if (now && !now->is_gone()) return refuse(EBUSY, "it has become another program (exec) in the middle; try again");
    return refuse(is_diverted_ ? ECONNRESET : ESRCH, "it has ended in the middle");
  }
  [[nodiscard]] Result<void> check_not_cancelled() const { return attach::check_not_cancelled(request_, facts_); }
  Result<Attached> try_to_attach();
  Result<void> check_agents_path() const;
  Result<bool> is_attached_already() const;
  Result<void> look_when_it_is_loaded();
  [[nodiscard]] bool all_is_told() const;
  [[nodiscard]] bool is_loaded() const;
  [[nodiscard]] bool loader_is_at_work() const;
  Result<void> plan();
  Result<LibcFunctions> find_functions() const;
  Result<std::uint64_t> find_room(std::size_t size) const;
  Result<void> divert_a_thread(const SafePlaces& places);
  Result<bool> try_to_divert(std::uint32_t tid, const SafePlaces& places);
  [[nodiscard]] std::vector<std::uint32_t> threads_that(Standing::Kind kind) const;
  [[nodiscard]] std::vector<std::uint32_t> threads_that_still_wait() const;
  Result<void> wait_for_agent();

  const Request& request_;
  Facts facts_;
  ProgramMemory memory_;
  std::vector<MappedRange> ranges_;
  std::vector<MappedObject> objects_;
  std::uint64_t room_ = 0;   // where the code is
  std::uint64_t block_ = 0;  // where the code maps memory
  Confinement confinement_;
  bool is_diverted_ = false;  // the agent may begin from here on
  Attached attached_;
};

// The program opens it by itself, perhaps in another root folder, and as another user.
Result<void> Attachment::check_agents_path() const {
  struct stat ours {};
  struct stat its {};
  if (::stat(request_.agent.c_str(), &ours) != 0) return fail_errno(request_.agent);
  const std::string root = fmt::format("/proc/{}/root", facts_.pid);
  const std::string there = root + request_.agent;
  if (::stat(there.c_str(), &its) == 0 && its.st_ino == ours.st_ino && its.st_dev == ours.st_dev) return {};
  if (::stat(root.c_str(), &its) != 0) return refuse(ESRCH, "it has ended in the middle");
  return refuse(ENOENT, fmt::format("it is in another root folder, in a container say, where {} is not; Landtrace has "
                                    "to be installed there",
                                    request_.agent));
}

Result<bool> Attachment::is_attached_already() const {
  const auto status = status_of_agent(memory_, objects_);
  if (!status) return false;
  if (is_same(status->socket, request_.socket)) return status->is_followed;
  if (!status->is_served) return false;
  return refuse(EBUSY, fmt::format("it is in the domain at {} already, which is still served; a program can be probed "
                                   "in one",
                                   status->socket));
}

bool is_libc(const MappedObject& object) {
  const std::string file = object.name();
  return file.rfind("libc.so", 0) == 0 || file.rfind("libc-2.", 0) == 0;
}

bool Attachment::all_is_told() const {
  return std::any_of(objects_.begin(), objects_.end(),
                     [&](const MappedObject& object) { return object.is_told_that_all_is_loaded(memory_); });
}

// The C library is there, and the loader has nothing to do.
bool Attachment::is_loaded() const { return std::any_of(objects_.begin(), objects_.end(), is_libc) && all_is_told(); }

bool Attachment::loader_is_at_work() const {
  return std::any_of(objects_.begin(), objects_.end(), std::mem_fn(&MappedObject::is_told_of_loading)) &&
         !all_is_told();
}

// What is there of a program in the middle of exec, or of dlopen(), is not what it will have.
Result<void> Attachment::look_when_it_is_loaded() {
  for (const auto begin = Clock::now();; std::this_thread::sleep_for(1ms)) {
    LT_TRY(ranges_, memory_.ranges());
    objects_ = objects_in(memory_, ranges_, kMostObjects + 1);
    if (objects_.size() > kMostObjects) return refuse(E2BIG, fmt::format("it has more than {} objects", kMostObjects));
    if (is_loaded() || Clock::now() - begin > (loader_is_at_work() ? kLoadPatience : kLoaderPatience)) return {};
    if (memory_.is_gone()) return has_gone();
    LT_CHECK(check_not_cancelled());
  }
}

Result<LibcFunctions> Attachment::find_functions() const {
  LibcFunctions found;
  const std::pair<const char*, std::uint64_t*> wanted[] = {{"pthread_create", &found.pthread_create},
                                                           {"pthread_detach", &found.pthread_detach},
                                                           {"dlopen", &found.dlopen},
                                                           {"dlsym", &found.dlsym},
                                                           {"dlerror", &found.dlerror},
                                                           {"__errno_location", &found.errno_location}};
  for (const auto& [name, address] : wanted) {
    for (const MappedObject& object : objects_) {
      const bool has_them =
          is_libc(object) || object.name().rfind("libpthread", 0) == 0 || object.name().rfind("libdl", 0) == 0;
      if (has_them && *address == 0) *address = object.find(memory_, name);
    }
    if (*address == 0) {
      return refuse(ENOEXEC, fmt::format("it has no {}(): its C library is not glibc, or an old one without threads "
                                         "and libdl",
                                         name));
    }
  }
  return found;
}

// Behind an object's code, up to its page's end, nothing is ever run. Used once, as a thread of an earlier attempt may
// still be there.
Result<std::uint64_t> Attachment::find_room(std::size_t size) const {
  for (const MappedObject& object : objects_) {
    for (const Extent& rest : object.rests()) {
      const std::uint64_t begin = (rest.begin + 15) & ~15ull;
      const MappedRange* const range = range_of(ranges_, rest.end - 1);
      if (begin >= rest.end || range == nullptr || !range->is_executable || !range->is_private) continue;
      if (range->path != object.path()) continue;
      std::string bytes(rest.end - begin, '\0');
      if (!memory_.read(begin, bytes.data(), bytes.size())) continue;
      // Behind what others have left.
      const std::size_t used = bytes.find_last_not_of('\0') + 1;
      const std::size_t at = (used + 31) & ~15ull;
      if (used == 0 && size <= bytes.size()) return begin;
      if (is_detour(bytes) && at + size <= bytes.size()) return begin + at;
    }
  }
  return refuse(ENOMEM, "there is no room for the code that loads the agent");
}

Result<void> Attachment::plan() {
  LT_TRY(const LibcFunctions libc, find_functions());
  block_ = middle_of_largest_hole(ranges_, kLeastHole);
  if (block_ == 0) return refuse(ENOMEM, "its address space is full");
  const std::string code = make_detour({libc, block_, request_.agent, request_.socket});
  LT_TRY(room_, find_room(code.size()));
  if (!memory_.write(room_, code.data(), code.size())) {
    return memory_.is_gone() ? has_gone() : refuse(EPERM, "the system does not let its memory be written");
  }
  return {};
}

std::vector<std::uint32_t> Attachment::threads_that(Standing::Kind kind) const {
  std::vector<std::uint32_t> threads;
  std::error_code error;
  std::filesystem::directory_iterator folder(fmt::format("/proc/{}/task", facts_.pid), error);
  for (; !error && folder != std::filesystem::directory_iterator(); folder.increment(error)) {
    const auto tid = static_cast<std::uint32_t>(std::stoul(folder->path().filename().string()));
    if (standing_of(facts_.pid, tid).kind == kind) threads.push_back(tid);
  }
  return threads;
}

// In the same call for some time: not for a lock of libc's, which nobody holds for long.
std::vector<std::uint32_t> Attachment::threads_that_still_wait() const {
  const auto threads = threads_that(Standing::Kind::kWaitsOnce);
  std::vector<std::uint64_t> before;
  for (const std::uint32_t tid : threads) before.push_back(standing_of(facts_.pid, tid).fingerprint);
  if (!threads.empty()) std::this_thread::sleep_for(kSameWait);
  std::vector<std::uint32_t> same;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const Standing now = standing_of(facts_.pid, threads[i]);
    if (now.kind == Standing::Kind::kWaitsOnce && now.fingerprint == before[i]) same.push_back(threads[i]);
  }
  return same;
}

// The system lets nobody trace such a thread. In a program that is killed, those that this process has let go before
// may seem to be traced by it still.
bool is_ending(std::uint32_t tid, const Facts& facts) {
  const char state = state_of_thread(facts.pid, tid);
  if (state == 'Z' || state == 'X' || facts.state == 'X') return true;
  return facts.tracer != 0 && ::access(fmt::format("/proc/self/task/{}", facts.tracer).c_str(), F_OK) == 0;
}

// True: it is on its way. False: it was not at a safe place, and goes on as if nothing had been.
Result<bool> Attachment::try_to_divert(std::uint32_t tid, const SafePlaces& places) {
  auto thread = TracedThread::seize(tid);
  if (!thread) {
    if (thread.error().code != EPERM) return false;  // it is gone
    const auto facts = facts_of(facts_.pid);
    if (!facts) return has_gone();
    if (is_ending(tid, *facts)) return false;
    LT_CHECK(check(*facts, {}));
    return fail(EPERM, why_not_permitted(*facts, rights_over(facts_.pid)));
  }
  if (auto stopped = thread->stop(kStopPatience, [this] { return check_not_cancelled(); }); !stopped) {
    if (stopped.error().code == EBUSY) {
      return refuse(EBUSY, fmt::format("a signal has stopped it; `kill -CONT {}` lets it go on", facts_.pid));
    }
    if (stopped.error().code == ECANCELED) return tl::unexpected<Error>(stopped.error());
    // What traces it until it comes to its stop is this thread, so there is nothing to try with others.
    if (stopped.error().code == ETIMEDOUT) return refuse(EBUSY, "a thread of it does not come to a stop; try again");
    return false;  // it is gone
  }
  LT_TRY(const user_regs_struct before, thread->registers());
  user_regs_struct registers = before;
  const TracedThread::Status status = thread->status();
  // The thread is not held until they are understood; it comes again.
  const bool is_limited = status.has_filters && !confinement_.has_harmless_ones(tid);
  const auto filters = is_limited ? thread->filters() : std::vector<SeccompFilter>();
  const bool is_free = filters && confinement_.lets_in(*filters);
  bool is_diverted = false;
  if (!status.has_pending_signal) {
    is_diverted = is_free && places.is_safe(tid, registers) && !thread->is_in_restartable_sequence(place_of(registers));
    const bool is_to_be_set = answers_by_itself(registers);
    begin_anew(registers);
    const std::uint64_t back = place_of(registers);
    if (is_diverted) {
      is_diverted = memory_.write(room_ + detour_way_back(), &back, sizeof back);
      set_place(registers, room_ + detour_entry());
    }
    // The system begins others anew by itself.
    if (is_diverted || is_to_be_set) is_diverted = thread->set_registers(registers) && is_diverted;
  }
  const bool was_let_go = thread->let_go();
  attached_.stopped_ns += static_cast<std::uint64_t>(thread->stopped_for().count());
  // Where they cannot be seen the system has said so: of a container's root, say.
  const auto judged = filters ? confinement_.judge(*filters) : Result<void>(tl::unexpected<Error>(filters.error()));
  if (!judged) return refuse(judged.error().code, judged.error().message);
  return is_diverted && was_let_go;
}

Result<void> Attachment::divert_a_thread(const SafePlaces& places) {
  const auto begin = Clock::now();
  const auto try_all = [&](const std::vector<std::uint32_t>& threads) -> Result<bool> {
    for (const std::uint32_t tid : threads) {
      LT_CHECK(check_not_cancelled());
      auto is_diverted = try_to_divert(tid, places);
      // Killed while it was held: whether the program has ended is seen in the next round.
      if (!is_diverted && is_diverted.error().code == ESRCH) continue;
      if (!is_diverted || *is_diverted) return is_diverted;
    }
    return false;
  };
  for (unsigned round = 0;; ++round) {
    if (memory_.is_gone()) return has_gone();
    LT_CHECK(check_not_cancelled());
    const auto waited = Clock::now() - begin;
    LT_TRY(bool done, try_all(threads_that(Standing::Kind::kWaits)));
    if (!done) {
      LT_TRY(done, try_all(threads_that(Standing::Kind::kRuns)));
    }
    // Threads that run have had their chance, or there are none.
    if (!done && (waited > kRunningPatience || threads_that(Standing::Kind::kRuns).empty())) {
      LT_TRY(done, try_all(threads_that_still_wait()));
    }
    if (done) return {};
    if (waited > kPatience) {
      return refuse(EBUSY,
                    "none of its threads came to a place where it may be stopped (they may be in malloc, in the "
                    "loader or in system calls that cannot be begun anew); try again");
    }
    // Not in step with what the program does.
    std::this_thread::sleep_for(std::chrono::microseconds(20 + round * 37 % 400));
  }
}

Result<void> Attachment::wait_for_agent() {
  const auto begin = Clock::now();
  DetourBlock block{};
  bool has_begun = false;
  for (auto pause = 50us;; pause = std::min<std::chrono::microseconds>(pause * 2, 2ms)) {
    std::this_thread::sleep_for(pause);
    has_begun = memory_.read(block_, block) || has_begun;
    if (has_begun && (block.state != DetourState::kUnderWay || (block.is_left != 0 && block.created != 0))) break;
    if (memory_.is_gone()) return has_gone();
    LT_CHECK(check_not_cancelled());
    const auto waited = Clock::now() - begin;
    if (!has_begun && waited > kBeginPatience) {
      return refuse(ETIME, "its threads do not run (a frozen control group?), or it may map no memory");
    }
    if (waited > kLoadPatience) return refuse(EBUSY, "the loader waits for something in it; the agent may begin later");
  }
  if (block.created != 0 && block.is_left != 0) {
    return refuse(block.created, "it can make no thread: " + errno_text(block.created));
  }
  const std::uint32_t yes = 1;
  std::ignore = memory_.write(block_ + offsetof(DetourBlock, acknowledged), &yes, sizeof yes);
  block.text[sizeof block.text - 1] = '\0';
  if (block.state == DetourState::kNotLoaded) return refuse(ENOEXEC, block.text);
  if (block.result != 0) return refuse(block.result, why_not_begun(block.result, request_.socket));
  return {};
}

// Of a program that ends meanwhile anything may seem to be missing.
Result<Attached> Attachment::run() {
  auto attached = try_to_attach();
  if (!attached && memory_.is_gone()) return has_gone();
  return attached;
}

Result<Attached> Attachment::try_to_attach() {
  attached_.name = name_of(facts_);
  LT_CHECK(look_when_it_is_loaded());
  LT_TRY(attached_.was_attached, is_attached_already());
  if (attached_.was_attached) return attached_;
  if (auto checked = confinement_.check(facts_.pid); !checked)
    return refuse(checked.error().code, checked.error().message);
  LT_CHECK(check_agents_path());
  const SafePlaces places = SafePlaces::of(memory_, ranges_, objects_);
  LT_CHECK(plan());
  LT_CHECK(divert_a_thread(places));
  is_diverted_ = true;
  LT_CHECK(wait_for_agent());
  return attached_;
}

Result<Attached> attach_here(const Request& request) {
  LT_TRY(Facts facts, facts_of(request.pid));
  LT_TRY(const Fd lock, lock_process(request, facts));
  LT_TRY(facts, facts_of(facts.pid));
  LT_CHECK(check(facts, image_of(facts.pid)));
  auto memory = ProgramMemory::open(facts.pid);
  if (!memory) {
    const int code = memory.error().code;
    if (code == EACCES || code == EPERM) return fail(EPERM, why_not_permitted(facts, rights_over(facts.pid)));
    return fail(ESRCH, fmt::format("{} has ended", name_of(facts)));
  }
  return Attachment(request, std::move(facts), *std::move(memory)).run();
}

}  // namespace

// In a thread of its own: whatever it traces when it ends is let go by the system.
Result<Attached> attach(const Request& request) {
  if (!kIsThere) {
    return fail(ENOTSUP, fmt::format("{} cannot be attached: probes are not there on this machine yet", request.pid));
  }
  std::optional<Result<Attached>> result;
  std::thread([&] {
    // A thread waits for us while it is stopped; where we may not be first, we are not.
    std::ignore = ::setpriority(PRIO_PROCESS, 0, -20);
    result.emplace(attach_here(request));
  }).join();
  return *std::move(result);
}

}  // namespace landtrace::attach
