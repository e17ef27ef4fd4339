// Synthetic events are traced: section 7.2.
#include <sched.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "abi/entry.hpp"
#include "client/emission.hpp"
#include "client/own_frames.hpp"
#include "client/trace_events/event_file.hpp"
#include "ipc/protocol.hpp"

namespace landtrace::client {
namespace {

namespace field_kind = ipc::field_kind;

constexpr std::uint32_t kMaxWords = 16;  // of a stack
// Most that fields of a fixed size take together: SYNTH_FIELDS_MAX texts of the largest size.
constexpr std::uint32_t kMaxFixed = SYNTH_FIELDS_MAX * 256;

bool is_heard(const EventFile& file) {
  return landtrace_enabled(&file.event) != 0 && (file.instance == 0 || file.owner == Process::current());
}

int emit(const EventFile& file, const iovec* vectors, unsigned count, std::size_t size) {
  if (file.event.backend != LANDTRACE_DOMAIN) return 0;
  const auto in_instance = [&](const plan::View& view, const plan::Thread& thread, std::uint32_t event,
                               const ring::Segment* segments, std::uint32_t segment_count, std::uint32_t bytes) {
    return plan::emit_in_instance(view, thread, file.instance, event, segments, segment_count, bytes);
  };
  const int result = emit_to_domain(file.event, vectors, count, size, in_instance);
  return result == -EBADF ? 0 : result;  // switched off meanwhile
}

// Stores the value of a field of fixed size. False: the text is a null pointer.
bool put(unsigned char* entry, const EntryField& field, landtrace_u64 value) {
  unsigned char* const at = entry + field.offset;
  if (field.kind != field_kind::kText) {
    std::memcpy(at, &value, std::min<std::size_t>(field.size, sizeof value));  // little-endian: its low bytes
    return true;
  }
  const auto* const text = reinterpret_cast<const char*>(value);
  if (text == nullptr || field.size == 0) return false;
  const std::size_t length = ::strnlen(text, field.size - 1);
  std::memcpy(at, text, length);
  std::memset(at + length, 0, field.size - length);
  return true;
}

// The payload of an event: its fixed part, which is zero at first, and what dynamic fields refer to.
class Entry {
 public:
  Entry(unsigned char* fixed, std::uint32_t size) : fixed_(fixed), size_(size) { vectors_[0] = {fixed, size}; }

  // 0 or a negative errno.
  int add(const EntryField& field, landtrace_u64 value) {
    if (!field.is_dynamic()) return put(fixed_, field, value) ? 0 : -EINVAL;
    if (value == 0) return -EINVAL;
    if (count_ == kMaxVectors) return -E2BIG;
    const std::size_t begin = size_;
    if (field.kind == field_kind::kDynamicText) {
      auto* const text = reinterpret_cast<char*>(value);
      append(text, std::strlen(text) + 1);
    } else {
      append_stack(reinterpret_cast<landtrace_u64*>(value));
    }
    if (abi::kEntryHeaderSize + size_ > 0xffff) return -E2BIG;
    const std::uint32_t location = abi::location_word(abi::kEntryHeaderSize + begin, size_ - begin);
    std::memcpy(fixed_ + field.offset, &location, sizeof location);
    return 0;
  }
  [[nodiscard]] int emit_to(const EventFile& file) const { return emit(file, vectors_, count_, size_); }

 private:
  static constexpr unsigned kMaxVectors = 64;

  void append(void* data, std::size_t size) {
    vectors_[count_++] = {data, size};
    size_ += size;
  }
  void append_stack(landtrace_u64* words) {
    std::size_t depth = 0;
    while (depth < kMaxWords && words[depth] != 0) ++depth;
    append(words, depth * sizeof words[0]);
  }

  unsigned char* fixed_;
  std::size_t size_;
  unsigned count_ = 1;
  iovec vectors_[kMaxVectors];
};

// `fixed` has room for the fixed part, and is zero.
int trace_with(const EventFile& file, const landtrace_u64* vals, unsigned char* fixed) {
  Entry entry(fixed, file.fixed_size);
  for (std::size_t i = 0; i < file.fields.size(); ++i) {
    if (const int refused = entry.add(file.fields[i], vals[i]); refused != 0) return refused;
  }
  return entry.emit_to(file);
}

template <std::uint32_t Room>
[[gnu::noinline]] int trace_on_stack(const EventFile& file, const landtrace_u64* vals) {
  alignas(8) unsigned char entry[Room];
  std::memset(entry, 0, file.fixed_size);
  return trace_with(file, vals, entry);
}

int trace(EventFile* file, const landtrace_u64* vals, unsigned n_vals) {
  if (file == nullptr || n_vals != file->fields.size()) return -EINVAL;
  if (!is_heard(*file)) return 0;
  if (file->fixed_size <= LANDTRACE_SYNTH_ROOM) return trace_on_stack<LANDTRACE_SYNTH_ROOM>(*file, vals);
  return file->fixed_size <= kMaxFixed ? trace_on_stack<kMaxFixed>(*file, vals) : -E2BIG;
}

int add_to(synth_event_trace_state& state, const EntryField* field, landtrace_u64 value) {
  if (field == nullptr) return -EINVAL;
  if (state.disabled) return 0;
  return put(state.entry, *field, value) ? 0 : -EINVAL;
}

}  // namespace

void name_tracing_frames() {
  add_own_frames({reinterpret_cast<const void*>(&trace_on_stack<LANDTRACE_SYNTH_ROOM>),
                  reinterpret_cast<const void*>(&trace_on_stack<kMaxFixed>),
                  reinterpret_cast<const void*>(&synth_event_trace_array),
                  reinterpret_cast<const void*>(&landtrace_synth_event_trace),
                  reinterpret_cast<const void*>(&synth_event_trace_end)});
}

}  // namespace landtrace::client

using namespace landtrace::client;

extern "C" {

unsigned landtrace_this_cpu(void) {
  const int cpu = ::sched_getcpu();
  return cpu < 0 ? 0 : static_cast<unsigned>(cpu);
}

int synth_event_trace_array(trace_event_file* file, const landtrace_u64* vals, unsigned n_vals) {
  return trace(synthetic_file(file), vals, n_vals);
}

int landtrace_synth_event_trace(trace_event_file* file, unsigned n_vals, const landtrace_u64* vals, size_t given) {
  return given == n_vals ? trace(synthetic_file(file), vals, n_vals) : -EINVAL;
}

int synth_event_trace_start(trace_event_file* file, synth_event_trace_state* trace_state) {
  *trace_state = {};
  const EventFile* const own = synthetic_file(file);
  if (own == nullptr || own->has_dynamic_fields) return -EINVAL;
  trace_state->file = file;
  trace_state->disabled = !is_heard(*own);
  trace_state->entry = reinterpret_cast<unsigned char*>(trace_state->room);
  if (own->fixed_size > LANDTRACE_SYNTH_ROOM) {
    trace_state->entry = static_cast<unsigned char*>(std::calloc(1, own->fixed_size));
    if (trace_state->entry == nullptr) return -ENOMEM;
  }
  trace_state->is_open = true;
  return 0;
}

int synth_event_add_next_val(landtrace_u64 val, synth_event_trace_state* trace_state) {
  if (!trace_state->is_open || trace_state->add_name) return -EINVAL;
  trace_state->add_next = true;
  const auto& fields = synthetic_file(trace_state->file)->fields;
  if (trace_state->next_field >= fields.size()) return -EINVAL;
  return add_to(*trace_state, &fields[trace_state->next_field++], val);
}

int synth_event_add_val(const char* field_name, landtrace_u64 val, synth_event_trace_state* trace_state) {
  if (!trace_state->is_open || trace_state->add_next || field_name == nullptr) return -EINVAL;
  trace_state->add_name = true;
  const auto& fields = synthetic_file(trace_state->file)->fields;
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const EntryField& field) { return field.name == field_name; });
  return add_to(*trace_state, found == fields.end() ? nullptr : &*found, val);
}

int synth_event_trace_end(synth_event_trace_state* trace_state) {
  if (!trace_state->is_open) return -EINVAL;
  trace_state->is_open = false;
  const EventFile* const file = synthetic_file(trace_state->file);
  int result = 0;
  if (!trace_state->disabled) {
    const iovec entry{trace_state->entry, file->fixed_size};
    result = emit(*file, &entry, 1, file->fixed_size);
  }
  if (trace_state->entry != reinterpret_cast<unsigned char*>(trace_state->room)) std::free(trace_state->entry);
  trace_state->entry = nullptr;
  return result;
}

}  // extern "C"
