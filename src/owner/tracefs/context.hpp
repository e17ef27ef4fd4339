// What all nodes of a tree share.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "domain/domain.hpp"
#include "domain/proxy.hpp"
#include "rules/rules.hpp"
#include "tracefs/instance_state.hpp"

namespace landtrace::tracefs {

class Proxies;

class Context {
 public:
  Context(domain::Domain& domain, rules::Rules& rules);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  domain::Domain& domain;
  rules::Rules& rules;

  // By this the calling thread records events for others.
  [[nodiscard]] domain::Proxy& proxy();

  // An instance has one state until it is gone.
  [[nodiscard]] InstancePtr state_of(const domain::Instance& instance);
  // For an instance that is destroyed. Its open files keep the state.
  void forget(const InstanceState& state) { states_.erase(state.serial); }
  // Adds a line to the instance's error_log.
  void log_error(const domain::Instance& instance, LoggedError error) {
    state_of(instance)->errors.add(std::move(error));
  }

  // The place of the mistake in the last write that was refused, for callers that show it.
  std::optional<std::size_t> refused_at;

  // The ring size of a new instance.
  [[nodiscard]] ring::Geometry default_geometry() const { return default_geometry_; }

 private:
  ring::Geometry default_geometry_;
  std::map<std::uint64_t, InstancePtr> states_;  // by serial
  std::shared_ptr<Proxies> proxies_;
};

}  // namespace landtrace::tracefs
