#include "tracefs/proxies.hpp"

#include <vector>

namespace landtrace::tracefs {

// Drops a thread's proxies when it ends. A tree may be gone before its threads.
struct ProxiesOfThread {
  std::vector<std::weak_ptr<Proxies>> used;

  ~ProxiesOfThread() {
    for (const auto& weak : used) {
      if (const auto proxies = weak.lock()) proxies->drop(std::this_thread::get_id());
    }
  }
};

domain::Proxy& Proxies::mine() {
  thread_local ProxiesOfThread of_thread;
  const std::lock_guard lock(mutex_);
  const auto [found, made] = proxies_.try_emplace(std::this_thread::get_id(), domain_);
  if (made) {
    std::erase_if(of_thread.used, [](const auto& weak) { return weak.expired(); });
    of_thread.used.push_back(weak_from_this());
  }
  return found->second;
}

void Proxies::close() {
  const std::lock_guard lock(mutex_);
  proxies_.clear();
}

void Proxies::drop(std::thread::id thread) {
  const std::lock_guard lock(mutex_);
  proxies_.erase(thread);
}

}  // namespace landtrace::tracefs
