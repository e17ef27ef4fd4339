#include "domain/foreign_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "domain/assumed_identity.hpp"
#include "domain/memory_map.hpp"
#include "domain/space_identity.hpp"

namespace landtrace::domain {
namespace {

constexpr std::chrono::microseconds kPatience = std::chrono::seconds(1);
constexpr std::chrono::microseconds kPatiencePerChange{20};
// Once a page has not answered: the others wait already.
constexpr std::chrono::microseconds kPatienceAfterwards = std::chrono::milliseconds(100);

// A bit is changed in its byte: the other bits of the word may belong to others.
std::uint64_t byte_of(EnableBit bit) { return bit.address + bit.bit / 8; }
std::uint8_t mask_of(EnableBit bit) { return static_cast<std::uint8_t>(1u << (bit.bit % 8)); }
std::uint8_t changed(std::uint8_t byte, EnableBit bit, bool on) {
  return static_cast<std::uint8_t>(on ? byte | mask_of(bit) : byte & ~mask_of(bit));
}

using Cancelled = std::atomic<bool>;

// By pid: for clients that may do no less than the owner.
int set_as_the_process_would(std::uint32_t pid, EnableBit bit, bool on, const Cancelled& cancelled) {
  std::uint8_t byte = 0;
  iovec local{&byte, 1};
  iovec remote{reinterpret_cast<void*>(byte_of(bit)), 1};
  if (::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) != 1) return errno;
  byte = changed(byte, bit, on);
  if (cancelled) return ECANCELED;
  if (::process_vm_writev(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) != 1) return errno;
  return 0;
}

int set_through(const AddressSpace& space, EnableBit bit, bool on, const Cancelled& cancelled) {
  std::uint8_t byte = 0;
  const auto offset = static_cast<off_t>(byte_of(bit));
  if (::pread(space.mem.get(), &byte, 1, offset) != 1) return EFAULT;
  const std::uint8_t wanted = changed(byte, bit, on);
  if (wanted == byte) return 0;
  if (cancelled) return ECANCELED;
  return ::pwrite(space.mem.get(), &wanted, 1, offset) == 1 ? 0 : EFAULT;
}

int check_and_set_in(const AddressSpace& space, EnableBit bit, bool on, const Cancelled& cancelled) {
  if (!space.maps) return set_as_the_process_would(space.pid, bit, on, cancelled);
  // By nothing but the descriptors: the pid may be a setuid program's by now. Should the client change the mapping
  // between the look and the write, it is its own memory that it spoils.
  if (!is_writable(space.maps.get(), byte_of(bit))) return EFAULT;
  return set_through(space, bit, on, cancelled);
}

Result<Fd> open_proc_file(std::uint32_t pid, const char* name, int flags) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  return fd;
}

Result<std::shared_ptr<AddressSpace>> open_as(std::uint32_t pid, Identity client) {
  const AssumedIdentity identity(client);
  if (!identity.succeeded()) return fail(EPERM, "cannot act as the client's user");
  auto space = std::make_shared<AddressSpace>();
  space->pid = pid;
  LT_TRY(space->mem, open_proc_file(pid, "mem", O_RDWR));
  if (must_assume(client)) {
    LT_TRY(space->maps, open_proc_file(pid, "maps", O_RDONLY));
  }
  space->identity = space_identity(pid, space->mem.get());
  return space;
}

}  // namespace

bool AddressSpace::is_alive() const {
  char byte;
  // Address 0 is never mapped: EIO while the address space is there, 0 once it is gone.
  return ::pread(mem.get(), &byte, 1, 0) != 0;
}

// One job at a time. Shared with its thread, which may outlive the ForeignMemory that gave up on it.
class ForeignMemory::Worker : public std::enable_shared_from_this<Worker> {
 public:
  void start() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread([self = shared_from_this()] { self->loop(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  bool run(std::function<void()> job, std::chrono::microseconds patience) {
    std::unique_lock lock(mutex_);
    job_ = std::move(job);
    done_ = false;
    changed_.notify_all();
    return changed_.wait_for(lock, patience, [this] { return done_; });
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || job_; });
      if (!job_) return;
      const auto job = std::exchange(job_, nullptr);
      lock.unlock();
      job();
      lock.lock();
      done_ = true;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> job_;
  bool done_ = false;
  bool stopped_ = false;
};

ForeignMemory::ForeignMemory() = default;

ForeignMemory::~ForeignMemory() {
  if (worker_) worker_->stop();
}

bool ForeignMemory::run(std::function<void()> job, std::chrono::microseconds patience) {
  if (!worker_) {
    worker_ = std::make_shared<Worker>();
    worker_->start();
  }
  if (worker_->run(std::move(job), patience)) return true;
  worker_->stop();  // when it ever comes back
  worker_.reset();
  return false;
}

Result<std::shared_ptr<AddressSpace>> ForeignMemory::open(std::uint32_t pid, Identity client) {
  using Opened = Result<std::shared_ptr<AddressSpace>>;
  const auto opened = std::make_shared<Opened>();
  if (!run([=] { *opened = open_as(pid, client); }, kPatience)) return fail(ETIMEDOUT, "/proc does not answer");
  return std::move(*opened);
}

Result<void> ForeignMemory::check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on) {
  struct Job {
    Cancelled cancelled = false;
    int code = 0;
  };
  const auto silent = [] { return fail(EFAULT, "the page of the enable word does not answer"); };
  if (space->unresponsive) return silent();
  const auto job = std::make_shared<Job>();
  if (!run([=] { job->code = check_and_set_in(*space, bit, on, job->cancelled); }, kPatience)) {
    job->cancelled = true;
    space->unresponsive = true;
    return silent();
  }
  if (job->code != 0) return fail_errno("writing the enable word", job->code);
  return {};
}

Result<void> ForeignMemory::read(const std::shared_ptr<AddressSpace>& space, std::uint64_t address, void* to,
                                 std::size_t size) {
  const auto silent = [] { return fail(EFAULT, "the process's memory does not answer"); };
  if (space->unresponsive) return silent();
  const auto bytes = std::make_shared<std::string>(size, '\0');
  const auto done = std::make_shared<ssize_t>(0);
  const auto job = [=] {
    *done = ::pread(space->mem.get(), bytes->data(), bytes->size(), static_cast<off_t>(address));
  };
  if (!run(job, kPatience)) {
    space->unresponsive = true;
    return silent();
  }
  if (*done != static_cast<ssize_t>(size)) return fail(EFAULT, "not the process's memory");
  std::memcpy(to, bytes->data(), size);
  return {};
}

void ForeignMemory::set_all(std::vector<Change> changes) {
  struct Job {
    std::vector<Change> changes;
    std::atomic<std::size_t> next = 0;  // the change that is being made
    Cancelled cancelled = false;
  };
  auto patience = kPatience;
  while (!changes.empty()) {
    const auto job = std::make_shared<Job>();
    job->changes = std::move(changes);
    patience += kPatiencePerChange * static_cast<std::int64_t>(job->changes.size());
    const bool finished = run(
        [job] {
          for (std::size_t i = 0; i < job->changes.size() && !job->cancelled; job->next = ++i) {
            const Change& change = job->changes[i];
            if (!change.space->unresponsive) set_through(*change.space, change.bit, change.on, job->cancelled);
          }
        },
        patience);
    if (finished) return;
    job->cancelled = true;
    const std::size_t stuck = job->next;
    if (stuck >= job->changes.size()) return;
    job->changes[stuck].space->unresponsive = true;
    // The rest without what does not answer; copied, because the job that was left behind has its own for ever.
    changes.assign(job->changes.begin() + static_cast<std::ptrdiff_t>(stuck) + 1, job->changes.end());
    patience = kPatienceAfterwards;
  }
}

}  // namespace landtrace::domain
