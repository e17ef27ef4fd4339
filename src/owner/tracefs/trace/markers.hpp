// trace_marker and trace_marker_raw: writes are recorded in the instance, between its events.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class Marker : public TextFile {
 public:
  Marker(Context& context, std::shared_ptr<TraceInstance> instance)
      : TextFile(0220), context_(context), instance_(std::move(instance)) {}

 protected:
  // EINVAL with the option nomarkers, EBADF while the instance does not trace.
  Result<domain::Instance*> writable() const;
  Result<void> record(const domain::Instance& instance, std::uint32_t slot, const Caller& caller,
                      std::span<const ring::Segment> segments);
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
