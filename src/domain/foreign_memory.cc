#include "domain/foreign_memory.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace landtrace::domain {
namespace {

constexpr auto kPatience = std::chrono::seconds(1);

// A bit is changed in its byte: the other bits of the word may belong to others.
std::uint64_t byte_of(EnableBit bit) { return bit.address + bit.bit / 8; }
std::uint8_t mask_of(EnableBit bit) { return static_cast<std::uint8_t>(1u << (bit.bit % 8)); }
std::uint8_t changed(std::uint8_t byte, EnableBit bit, bool on) {
  return static_cast<std::uint8_t>(on ? byte | mask_of(bit) : byte & ~mask_of(bit));
}

int set_as_the_process_would(std::uint32_t pid, EnableBit bit, bool on) {
  std::uint8_t byte = 0;
  iovec local{&byte, 1};
  iovec remote{reinterpret_cast<void*>(byte_of(bit)), 1};
  if (::process_vm_readv(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) != 1) return errno;
  byte = changed(byte, bit, on);
  if (::process_vm_writev(static_cast<pid_t>(pid), &local, 1, &remote, 1, 0) != 1) return errno;
  return 0;
}

void set_through(const AddressSpace& space, EnableBit bit, bool on) {
  std::uint8_t byte = 0;
  const auto offset = static_cast<off_t>(byte_of(bit));
  if (::pread(space.mem.get(), &byte, 1, offset) != 1) return;
  const std::uint8_t wanted = changed(byte, bit, on);
  if (wanted != byte && ::pwrite(space.mem.get(), &wanted, 1, offset) != 1) return;
}

}  // namespace

Result<std::shared_ptr<AddressSpace>> AddressSpace::open(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/mem";
  Fd mem(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!mem) return fail_errno("open " + path);
  return std::make_shared<AddressSpace>(AddressSpace{pid, std::move(mem)});
}

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

  bool run(std::function<void()> job) {
    std::unique_lock lock(mutex_);
    job_ = std::move(job);
    done_ = false;
    changed_.notify_all();
    return changed_.wait_for(lock, kPatience, [this] { return done_; });
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

bool ForeignMemory::run(std::function<void()> job) {
  if (!worker_) {
    worker_ = std::make_shared<Worker>();
    worker_->start();
  }
  if (worker_->run(std::move(job))) return true;
  worker_->stop();  // when it ever comes back
  worker_.reset();
  return false;
}

Result<void> ForeignMemory::check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on) {
  const auto code = std::make_shared<int>(0);
  if (!run([=] { *code = set_as_the_process_would(space->pid, bit, on); })) {
    return fail(EFAULT, "the page of the enable word does not answer");
  }
  if (*code != 0) return fail_errno("writing the enable word", *code);
  return {};
}

void ForeignMemory::set_all(std::vector<Change> changes) {
  if (changes.empty()) return;
  run([list = std::make_shared<std::vector<Change>>(std::move(changes))] {
    for (const Change& change : *list) set_through(*change.space, change.bit, change.on);
  });
}

}  // namespace landtrace::domain
