#include "cli/trace_file_sink.hpp"

namespace landtrace::cli {

// Events that the recording does not listen to would fill the file with formats; a domain may have thousands.
void TraceFileSink::type(const output::EventType& type) {
  if (!filter_.wants(type) || (described_[type.id] && type.description.empty())) return;
  described_.set(type.id);
  writer_.add_event(type);
}

void TraceFileSink::event(const output::Record& record, const output::EventType& type) {
  if (!failure_ && described_[type.id] && writer_.append_at_once(record)) [[likely]] {
    ++written_;
    return;
  }
  if (failure_) [[unlikely]] {
    writer_.lost(record.cpu, 1);
    ++unwritten_;
    return;
  }
  if (!described_[type.id]) [[unlikely]] {
    described_.set(type.id);
    writer_.add_event(type);
  }
  if (auto appended = writer_.append(record); !appended) [[unlikely]] {
    failure_ = std::move(appended).error();
    ++unwritten_;
    return;
  }
  ++written_;
}

void TraceFileSink::outstanding(std::uint32_t cpu, consumer::Outstanding events) {
  if (failure_) return;
  if (auto told = writer_.set_outstanding(cpu, events); !told) failure_ = std::move(told).error();
}

void TraceFileSink::settled(std::uint64_t horizon_ns) {
  if (failure_) return;
  if (auto published = writer_.publish(horizon_ns); !published) failure_ = std::move(published).error();
}

}  // namespace landtrace::cli
