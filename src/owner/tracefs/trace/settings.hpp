// Small files with one value: buffer_percent, trace_clock, timestamp_mode, tracing_on.
#pragma once

#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

// How full a CPU's buffer has to be before poll() reports its trace_pipe_raw.
class BufferPercent : public TextFile {
 public:
  explicit BufferPercent(std::shared_ptr<TraceInstance> instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

class TraceClockFile : public TextFile {
 public:
  explicit TraceClockFile(std::shared_ptr<TraceInstance> instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

class TimestampMode : public TextFile {
 public:
  explicit TimestampMode(std::shared_ptr<TraceInstance> instance) : TextFile(0440), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

class TracingOn : public TextFile {
 public:
  explicit TracingOn(std::shared_ptr<TraceInstance> instance) : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

}  // namespace landtrace::tracefs
