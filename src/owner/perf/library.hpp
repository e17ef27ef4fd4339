// The perf events of this process: what the shim calls (ipc/perf_library.hpp), one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ipc/perf_library.hpp"
#include "perf/kernel_output.hpp"
#include "perf/listening.hpp"
#include "perf/tracepoints.hpp"

namespace landtrace::perf {

class Library {
 public:
  static Library& get();

  Result<bool> open(const ipc::PerfOpen& wanted, ipc::PerfOpened& opened);
  Result<long> ioctl(std::uint32_t handle, unsigned long request, void* argument);
  Result<long> set_output(std::uint32_t handle, int fd, std::uint32_t to);
  Result<long> take_output(int fd, std::uint32_t to);
  Result<long> read(std::uint32_t handle, void* buffer, std::size_t size);
  void polled(std::uint32_t handle);
  Result<int> memory(std::uint32_t handle, std::size_t size, int protection, int flags, std::int64_t offset);
  void mapped(int fd, void* address, std::size_t size) { kernel_.mapped(fd, address, size); }
  bool pull();
  bool is_hung_up(std::uint32_t handle);
  void drop(std::uint32_t handle);
  void child();

  std::mutex& mutex() { return mutex_; }
  static bool watches_memory;
  static bool awaits_exec;
  static bool is_sampling;

 private:
  Library() = default;

  Result<void> connect(const std::string& socket);
  Event* find(std::uint32_t handle);

  Result<std::unique_ptr<Event>> make_event(const ipc::PerfOpen& wanted, const perf_event_attr& attr);
  Result<void> enable(Event& event);
  void disable(Event& event);
  Result<long> for_all(Event& event, void* argument, bool on);
  Result<long> set_filter(Event& event, void* argument);
  Result<long> set_period(Event& event, void* argument);
  Result<long> refresh(Event& event, void* argument);
  void forget_output(const std::shared_ptr<OutputRing>& output);
  static void leave_group(Event& event);
  void move_output(Event& event, std::shared_ptr<OutputRing> to);
  [[nodiscard]] bool is_meant(std::uint32_t tid, std::uint32_t tgid);
  [[nodiscard]] Reading reading_of(Event& event);
  void publish_outputs();
  void note_what_is_watched();

  std::mutex mutex_;
  Tracepoints tracepoints_;
  std::unique_ptr<Births> births_;
  std::unique_ptr<SampleClocks> clocks_;
  std::map<std::uint32_t, std::unique_ptr<Event>> events_;
  ThreadGate::IsMeant is_meant_ = [this](std::uint32_t tid, std::uint32_t tgid) { return is_meant(tid, tgid); };
  Listening listening_{is_meant_};
  KernelOutput kernel_;
  std::uint32_t next_handle_ = 1;
  std::uint64_t sampled_ns_ = 0;
};

}  // namespace landtrace::perf
