// What all nodes of a tree share.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "tracefs/instance_state.hpp"

namespace landtrace::tracefs {

class Proxies;

class Context {
 public:
  explicit Context(domain::Domain& domain);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  domain::Domain& domain;

  // The calling thread's place in the data plane.
  [[nodiscard]] domain::Proxy& proxy();

  // The same for the same instance until it is gone.
  [[nodiscard]] InstancePtr state_of(const domain::Instance& instance);
  // The instance's files know it no more; it is destroyed.
  void forget(const InstanceState& state) { states_.erase(state.serial); }
  // For the instance's error_log.
  void log_error(const domain::Instance& instance, LoggedError error) {
    state_of(instance)->errors.add(std::move(error));
  }

  // Where in the bytes of the last refused write the mistake is, for who wants to say so.
  std::optional<std::size_t> refused_at;

  // The rings of a fresh instance.
  [[nodiscard]] ring::Geometry default_geometry() const { return default_geometry_; }

 private:
  ring::Geometry default_geometry_;
  std::map<std::uint64_t, InstancePtr> states_;  // by serial
  std::shared_ptr<Proxies> proxies_;
};

}  // namespace landtrace::tracefs
