// How large the buffers are: buffer_size_kb (of each CPU, or of one), buffer_total_size_kb, buffer_subbuf_size_kb.
#pragma once

#include "tracefs/text_file.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class BufferSizeKb : public TextFile {
 public:
  BufferSizeKb(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu)
      : TextFile(0640), instance_(std::move(instance)), cpu_(cpu) {}

 protected:
  // "X" if CPUs differ.
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
};

class BufferTotalSizeKb : public TextFile {
 public:
  explicit BufferTotalSizeKb(std::shared_ptr<TraceInstance> instance)
      : TextFile(0440), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

class BufferSubbufSizeKb : public TextFile {
 public:
  explicit BufferSubbufSizeKb(std::shared_ptr<TraceInstance> instance)
      : TextFile(0640), instance_(std::move(instance)) {}

 protected:
  Result<std::string> text() override;
  // Rounded up to a power of two of pages, 128 at most.
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;

 private:
  std::shared_ptr<TraceInstance> instance_;
};

}  // namespace landtrace::tracefs
