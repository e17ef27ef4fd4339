#include "plan/file_write.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "abi/validator.hpp"
#include "plan/section.hpp"

namespace landtrace::plan {
namespace {

constexpr int kMaxVectors = 1024;  // IOV_MAX

// What follows the index, or all where there is no index. The array is the caller's.
struct Payload {
  Segment* segments;
  std::uint32_t count = 0;
  std::uint64_t size = 0;
};

void add_segment(Payload& payload, const void* data, std::size_t size) {
  if (size == 0) return;
  payload.segments[payload.count++] = {data, size};
  payload.size += size;
}

void take_all(const iovec* vectors, int count, Payload& payload) {
  for (int i = 0; i < count; ++i) add_segment(payload, vectors[i].iov_base, vectors[i].iov_len);
}

// Where the index is in more than one piece.
bool gather_index(const iovec* vectors, int count, std::int32_t& index, Payload& payload) {
  std::byte bytes[sizeof index] = {};
  std::size_t have = 0;
  for (int i = 0; i < count; ++i) {
    const auto* at = static_cast<const std::byte*>(vectors[i].iov_base);
    const std::size_t left = vectors[i].iov_len;
    const std::size_t taken = std::min(left, sizeof index - have);
    if (taken > 0) std::memcpy(bytes + have, at, taken);
    have += taken;
    add_segment(payload, at + taken, left - taken);
  }
  std::memcpy(&index, bytes, sizeof index);
  return have == sizeof index;
}

// Takes the index off the front of the vectors.
bool take_index(const iovec* vectors, int count, std::int32_t& index, Payload& payload) {
  if (count == 0 || vectors[0].iov_len < sizeof index) return gather_index(vectors, count, index, payload);
  std::memcpy(&index, vectors[0].iov_base, sizeof index);
  add_segment(payload, static_cast<const std::byte*>(vectors[0].iov_base) + sizeof index,
              vectors[0].iov_len - sizeof index);
  take_all(vectors + 1, count - 1, payload);
  return true;
}

// Nearly every payload is one piece.
bool dynamic_fields_valid(const abi::DynamicFieldCheck* checks, std::uint32_t count, const Payload& payload) {
  if (count == 0) return true;
  const auto size = static_cast<std::uint32_t>(payload.size);
  if (payload.count > 1)
    return abi::payload_is_valid(checks, count, abi::Payload(payload.segments, payload.count), size);
  const abi::FlatPayload only(payload.count == 0 ? nullptr : payload.segments[0].data);
  return abi::payload_is_valid(checks, count, only, size);
}

bool is_plain(const View& view, FileRef file) {
  return (__atomic_load_n(&view.control->files[file.slot].table, __ATOMIC_RELAXED) & kPlainFile) != 0;
}

std::int64_t find_event(const View& view, FileRef file, bool plain, std::int32_t index) {
  if (index < 0) return -EINVAL;
  const FileSlot& slot = view.control->files[file.slot];
  // Pairs with the release store of publish() in the owner's Files::publish_table(): the table is there.
  const std::uint32_t offset = __atomic_load_n(&slot.table, __ATOMIC_ACQUIRE);
  if (offset == 0 || __atomic_load_n(&slot.generation, __ATOMIC_RELAXED) != file.generation) return -ENOENT;
  // It was not plain before its event was registered.
  if (((offset & kPlainFile) != 0) != plain) return -ENOENT;
  const FileTable& table = *control_at<FileTable>(view, offset & ~kPlainFile);
  // Pairs with the release store of publish() in the owner's Files::add_event(): so many slots are written.
  if (static_cast<std::uint32_t>(index) >= __atomic_load_n(&table.count, __ATOMIC_ACQUIRE)) return -ENOENT;
  return table.events()[index];
}

}  // namespace

ssize_t write_file(const View& view, const Thread& thread, FileRef file, const iovec* vectors, int count) {
  std::int32_t index = 0;
  if (count < 0 || count > kMaxVectors) return -EINVAL;
  // A signal handler's stack may be small; only a writev of many vectors needs more than a little of it.
  constexpr int kFew = 8;
  Segment few[kFew];
  Payload payload{few};
  if (count > kFew) {
    payload.segments = static_cast<Segment*>(__builtin_alloca(static_cast<std::size_t>(count) * sizeof(Segment)));
  }
  const bool plain = is_plain(view, file);
  if (__builtin_expect(plain, 0)) {
    take_all(vectors, count, payload);
  } else if (!take_index(vectors, count, index, payload)) {
    return -EFAULT;
  }

  const Section section(*thread.slot);
  const std::int64_t event = find_event(view, file, plain, index);
  if (event < 0) return static_cast<ssize_t>(event);
  const EventSlot& slot = view.control->events[event];
  if (payload.size < slot.min_size) return -EINVAL;
  if (__atomic_load_n(&slot.plan, __ATOMIC_RELAXED) == 0) return -EBADF;
  if (payload.size > ring::kMaxPayload) return -E2BIG;
  const auto* checks = control_at<abi::DynamicFieldCheck>(view, slot.checks);
  if (!dynamic_fields_valid(checks, slot.check_count, payload)) return -EFAULT;
  const bool kept = emit_in_section(view, thread, static_cast<std::uint32_t>(event), payload.segments, payload.count,
                                    static_cast<std::uint32_t>(payload.size));
  return kept ? static_cast<ssize_t>((plain ? 0 : sizeof index) + payload.size) : -EBADF;
}

}  // namespace landtrace::plan
