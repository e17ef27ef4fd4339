// Whoever serves a domain: a thread that waits for what happens, and that the domain tells what it cannot know.
#pragma once

#include <cstdint>

namespace landtrace::domain {

class ServingThread {
 public:
  virtual ~ServingThread() = default;

  // maintain() has something to do, or there is another descriptor to wait for. Any thread calls this.
  virtual void wake() = 0;
  // When the process has ended the domain is to be told, by processes_ended(). Called by whoever holds the domain.
  virtual void watch_process(std::uint32_t pid) = 0;
};

// The one that serves the domain now, if any does.
class ServingLink {
 public:
  void set(ServingThread* thread) { thread_ = thread; }
  void wake() const {
    if (thread_ != nullptr) thread_->wake();
  }
  void watch_process(std::uint32_t pid) const {
    if (thread_ != nullptr) thread_->watch_process(pid);
  }

 private:
  ServingThread* thread_ = nullptr;
};

}  // namespace landtrace::domain
