// The functions of <landtrace/reader.h>. Nothing is thrown past them.
#include <exception>
#include <new>

#include "reader/reader.hpp"

struct landtrace_reader {
  landtrace::reader::Reader reader;
  landtrace::Error failure;

  int set(int code, const char* text) noexcept {
    failure.code = code;
    try {
      failure.message = text;
    } catch (const std::bad_alloc&) {
      failure.message.clear();
    }
    return -code;
  }
  // What the call returns, or a negative errno.
  template <typename Call>
  int guarded(const Call& call) noexcept {
    failure.code = 0;
    failure.message.clear();
    try {
      auto result = call(reader);
      if (!result) {
        failure = std::move(result).error();
        if (failure.message.empty()) failure.message = landtrace::errno_text(failure.code);
        return -failure.code;
      }
      if constexpr (requires { static_cast<int>(*result); }) return static_cast<int>(*result);
      return 0;
    } catch (const std::bad_alloc&) {
      return set(ENOMEM, "out of memory");
    } catch (const std::exception& thrown) {
      return set(EIO, thrown.what());
    }
  }
};

namespace {

template <typename Call>
const char* text_of(landtrace_reader* reader, const Call& call) noexcept {
  try {
    return call(reader->reader).c_str();
  } catch (const std::exception&) {
    return "";
  }
}

}  // namespace

using landtrace::reader::Reader;

landtrace_reader* landtrace_reader_new() {
  try {
    return new landtrace_reader;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void landtrace_reader_free(landtrace_reader* reader) { delete reader; }

int landtrace_reader_add_pattern(landtrace_reader* reader, const char* pattern) {
  return reader->guarded([&](Reader& it) { return it.add_pattern(pattern); });
}

int landtrace_reader_set_filter(landtrace_reader* reader, const char* expression) {
  return reader->guarded([&](Reader& it) {
    it.set_filter(expression == nullptr ? "" : expression);
    return landtrace::Result<void>();
  });
}

int landtrace_reader_open(landtrace_reader* reader, const char* path) {
  return reader->guarded([&](Reader& it) { return it.open(path); });
}

int landtrace_reader_follow(landtrace_reader* reader, const char* path) {
  return reader->guarded([&](Reader& it) { return it.follow(path); });
}

int landtrace_reader_listen(landtrace_reader* reader, const char* socket, uint64_t ring_bytes) {
  return reader->guarded([&](Reader& it) { return it.listen(socket, ring_bytes); });
}

int landtrace_reader_next(landtrace_reader* reader, int timeout_ms, const landtrace_record** record) {
  *record = nullptr;
  return reader->guarded([&](Reader& it) { return it.next(timeout_ms, *record); });
}

void landtrace_reader_stop(landtrace_reader* reader) { reader->reader.stop(); }

uint64_t landtrace_reader_lost(const landtrace_reader* reader) {
  return reader->reader.source() == nullptr ? 0 : reader->reader.source()->lost_so_far();
}

const char* landtrace_reader_clock(const landtrace_reader* reader) {
  return reader->reader.source() == nullptr ? "" : reader->reader.source()->clock().c_str();
}

int landtrace_reader_wall_offset(const landtrace_reader* reader, int64_t* offset_ns) {
  if (reader->reader.source() == nullptr) return -ENODATA;
  const auto offset = reader->reader.source()->wall_offset_ns();
  if (!offset) return -ENODATA;
  *offset_ns = *offset;
  return 0;
}

const char* landtrace_reader_failure(const landtrace_reader* reader) { return reader->failure.message.c_str(); }

int landtrace_reader_field(landtrace_reader* reader, size_t index, landtrace_field_value* value) {
  return reader->guarded([&](Reader& it) { return it.field(index, *value); });
}

int landtrace_reader_find(landtrace_reader* reader, const char* name, landtrace_field_value* value) {
  return reader->guarded([&](Reader& it) { return it.find(name, *value); });
}

const char* landtrace_reader_text(landtrace_reader* reader) {
  return text_of(reader, [](Reader& it) -> const std::string& { return it.text(); });
}

const char* landtrace_reader_json(landtrace_reader* reader) {
  return text_of(reader, [](Reader& it) -> const std::string& { return it.json(); });
}
