// trace_marker and trace_marker_raw: writes are recorded in the instance, between its events.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

// Records a text as ftrace:print. A newline is put behind it where it has none, which triggers do not see.
Result<void> record_print(Context& context, const domain::Instance& instance, std::uint64_t ip, std::string_view text,
                          std::uint32_t tid, std::uint32_t uid);

class Marker : public TextFile {
 public:
  Marker(Context& context, std::shared_ptr<TraceInstance> instance)
      : TextFile(0220), context_(context), instance_(std::move(instance)) {}

 protected:
  // EINVAL with the option nomarkers.
  Result<domain::Instance*> writable() const;
  // EBADF while the instance does not trace.
  Result<void> check_tracing(const domain::Instance& instance) const;
  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] const TraceInstance& instance() const { return *instance_; }

 private:
  Context& context_;
  std::shared_ptr<TraceInstance> instance_;
};

// Text. One write takes as much as a sub-buffer holds.
class TraceMarker : public Marker {
 public:
  using Marker::Marker;

 protected:
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

// A number of four bytes, then data. EINVAL for fewer bytes, and for more than a sub-buffer holds.
class TraceMarkerRaw : public Marker {
 public:
  using Marker::Marker;

 protected:
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

}  // namespace landtrace::tracefs
