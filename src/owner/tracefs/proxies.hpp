// A domain::Proxy for each thread that needs one. It lasts as long as its thread, and none outlives the tree.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "domain/proxy.hpp"

namespace landtrace::tracefs {

class Proxies : public std::enable_shared_from_this<Proxies> {
 public:
  explicit Proxies(domain::Domain& domain) : domain_(domain) {}

  // The calling thread's.
  [[nodiscard]] domain::Proxy& mine();
  // Before the domain is destroyed: threads that end later have nothing to give back.
  void close();

 private:
  friend struct ProxiesOfThread;
  void drop(std::thread::id thread);

  domain::Domain& domain_;
  std::mutex mutex_;
  std::map<std::thread::id, domain::Proxy> proxies_;
};

}  // namespace landtrace::tracefs
