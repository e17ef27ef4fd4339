// Landtrace, the trace event API in C++: synthetic events made and traced by a program, and probes of functions.
//
//     landtrace::make_synthetic("job_done", {{"pid_t", "worker"}, {"char[]", "job"}, {"u64", "took_ns"}});
//     landtrace::SyntheticEvent done("job_done");
//     done.enable();
//     done.trace(gettid(), "resize", 1200000);
//
//     landtrace::make_probe("opened", "libc:open", {"path=+0(%di):string"});
//     landtrace::ProbeEvent("opened").enable();
//
// A thin face of <landtrace/trace_events.h>, where every errno, and what is safe in threads and signal handlers,
// stands: functions return 0 or a negative errno. Objects can be moved; each is for one thread at a time but for
// SyntheticEvent::trace().
#pragma once

#if __cplusplus < 202002L
#error "<landtrace/trace_events.hpp> needs C++20 (-std=c++20). For older standards: <landtrace/trace_events.h>"
#else

#include <landtrace/trace_events.h>

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace landtrace {

inline int make_synthetic(const std::string& name, std::initializer_list<synth_field_desc> fields) {
  std::vector<synth_field_desc> copy(fields);
  return synth_event_create(name.c_str(), copy.data(), static_cast<unsigned>(copy.size()), nullptr);
}
inline int remove_synthetic(const std::string& name) { return synth_event_delete(name.c_str()); }

namespace detail {
enum class ProbeKind { kCall, kReturn };
inline int make_probe(ProbeKind kind, const std::string& name, const std::string& place,
                      std::initializer_list<const char*> fields) {
  char buffer[MAX_DYNEVENT_CMD_LEN];
  dynevent_cmd cmd;
  kprobe_event_cmd_init(&cmd, buffer, sizeof buffer);
  int result = landtrace_kprobe_event_gen_cmd_start(&cmd, kind == ProbeKind::kReturn, name.c_str(), place.c_str(),
                                                    static_cast<const char*>(nullptr));
  for (const char* const field : fields) {
    if (result == 0) result = kprobe_event_add_field(&cmd, field);
  }
  return result == 0 ? kprobe_event_gen_cmd_end(&cmd) : result;
}

template <typename T>
landtrace_u64 synthetic_value(const T& value) {
  if constexpr (std::is_convertible_v<const T&, const char*>) {
    return reinterpret_cast<landtrace_u64>(static_cast<const char*>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return reinterpret_cast<landtrace_u64>(value.c_str());
  } else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "want a number or a text");
    return static_cast<landtrace_u64>(value);
  }
}
}  // namespace detail

// An event of a function's calls, or of its returns, in the group `kprobes`. A field is "NAME=FETCH[:TYPE]".
inline int make_probe(const std::string& name, const std::string& place, std::initializer_list<const char*> fields) {
  return detail::make_probe(detail::ProbeKind::kCall, name, place, fields);
}
inline int make_return_probe(const std::string& name, const std::string& place,
                             std::initializer_list<const char*> fields) {
  return detail::make_probe(detail::ProbeKind::kReturn, name, place, fields);
}
inline int remove_probe(const std::string& name) { return kprobe_event_delete(name.c_str()); }

// An event of any system, in the top instance or another one. It stays while somebody has it.
class TraceEvent {
 public:
  TraceEvent() = default;
  // Look at error(): it need not be there.
  TraceEvent(const std::string& system, const std::string& name, const std::string& instance = {})
      : system_(system),
        name_(name),
        file_(trace_get_event_file(instance.empty() ? nullptr : instance.c_str(), system.c_str(), name.c_str())) {}
  ~TraceEvent() { trace_put_event_file(file_); }
  TraceEvent(TraceEvent&& other) noexcept
      : system_(std::move(other.system_)), name_(std::move(other.name_)), file_(std::exchange(other.file_, nullptr)) {}
  TraceEvent& operator=(TraceEvent&& other) noexcept {
    std::swap(system_, other.system_);
    std::swap(name_, other.name_);
    std::swap(file_, other.file_);
    return *this;
  }

  // 0: it is there.
  [[nodiscard]] int error() const {
    return file_ == nullptr ? -22 : landtrace_is_err(file_) ? static_cast<int>(landtrace_ptr_err(file_)) : 0;
  }
  [[nodiscard]] trace_event_file* file() const { return error() == 0 ? file_ : nullptr; }

  int enable(bool on = true) {
    return error() != 0 ? error() : trace_array_set_clr_event(file_->tr, system_.c_str(), name_.c_str(), on);
  }

 private:
  std::string system_;
  std::string name_;
  trace_event_file* file_ = nullptr;
};

// An event that a probe made.
class ProbeEvent : public TraceEvent {
 public:
  ProbeEvent() = default;
  explicit ProbeEvent(const std::string& name, const std::string& instance = {})
      : TraceEvent("kprobes", name, instance) {}
};

class SyntheticEvent : public TraceEvent {
 public:
  SyntheticEvent() = default;
  explicit SyntheticEvent(const std::string& name, const std::string& instance = {})
      : TraceEvent("synthetic", name, instance) {}

  // One value a field, in order. Texts are const char* or std::string. Inlined, also without optimisation: stacks begin
  // with the caller.
  template <typename... Values>
  [[gnu::always_inline]] int trace(const Values&... values) const {
    const landtrace_u64 all[] = {detail::synthetic_value(values)..., 0};
    return synth_event_trace_array(file(), all, sizeof...(values));
  }
};

// One occurrence of a synthetic event, put together piece by piece; it happens at its end.
class SyntheticTrace {
 public:
  explicit SyntheticTrace(const SyntheticEvent& event) : started_(synth_event_trace_start(event.file(), &state_)) {}
  [[gnu::always_inline]] ~SyntheticTrace() { end(); }
  SyntheticTrace(const SyntheticTrace&) = delete;
  SyntheticTrace& operator=(const SyntheticTrace&) = delete;

  template <typename Value>
  int add_next(const Value& value) {
    return started_ != 0 ? started_ : synth_event_add_next_val(detail::synthetic_value(value), &state_);
  }
  template <typename Value>
  int add(const std::string& field, const Value& value) {
    return started_ != 0 ? started_ : synth_event_add_val(field.c_str(), detail::synthetic_value(value), &state_);
  }
  [[gnu::always_inline]] int end() { return synth_event_trace_end(&state_); }

 private:
  synth_event_trace_state state_;
  int started_;
};

}  // namespace landtrace

#endif
