// The domain, as far as perf events are opened in it: where tracepoints are looked up, and held.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "consumer/session.hpp"
#include "perf/event.hpp"

namespace landtrace::perf {

class Tracepoints {
 public:
  // Connects where nobody has before, or the owner of that time has died.
  Result<void> connect(const std::string& socket);
  [[nodiscard]] bool is_connected() const { return view_ != nullptr; }
  void disconnect() { view_.reset(); }
  // Whether nobody serves the domain any more.
  [[nodiscard]] bool are_gone() const { return view_ && view_->owner_died(); }

  // These want connect(). nullopt: no event has the id.
  [[nodiscard]] std::optional<Tracepoint> find(std::uint64_t id) const;
  // For as long as this process has a descriptor of it: its `format` is read at the end, too. EPERM for who may not
  // record the domain.
  Result<void> hold(const Tracepoint& tracepoint);
  // EINVAL for a filter that does not fit the event.
  [[nodiscard]] Result<void> check_filter(const Tracepoint& tracepoint, const std::string& filter) const;
  [[nodiscard]] std::uint32_t cpus() const { return view_->cpus(); }
  [[nodiscard]] arch::RawClock raw_clock() const { return static_cast<arch::RawClock>(view_->control().raw_clock); }
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  std::unique_ptr<consumer::DomainView> view_;
};

}  // namespace landtrace::perf
