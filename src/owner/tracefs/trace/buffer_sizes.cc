#include "tracefs/trace/buffer_sizes.hpp"

#include <bit>

namespace landtrace::tracefs {
namespace {

constexpr unsigned kKbShift = 10;
constexpr std::uint64_t kMostKb = ~0ull >> kKbShift;
constexpr std::uint64_t kPageKb = buffer::kPageBytes >> kKbShift;

std::string line_of(std::uint64_t number) { return std::to_string(number) + '\n'; }

}  // namespace

Result<std::string> BufferSizeKb::text() {
  LT_CHECK(instance_->get());
  const buffer::Buffer& buffer = instance_->buffer;
  if (cpu_ != buffer::kAllCpus) return line_of(buffer.bytes(cpu_) >> kKbShift);
  for (std::uint32_t cpu = 1; cpu < buffer.cpus(); ++cpu) {
    if (buffer.bytes(cpu) != buffer.bytes(0)) return "X\n";
  }
  return line_of(buffer.bytes(0) >> kKbShift);
}

Result<std::size_t> BufferSizeKb::store(const Caller&, std::string_view bytes) {
  LT_CHECK(instance_->get());
  LT_TRY(const std::uint64_t size, number_in(bytes, 10));
  if (size == 0) return fail(EINVAL, "a buffer has a size");
  if (size > kMostKb) return fail(ENOMEM, "no buffer can be as large");
  LT_CHECK(instance_->buffer.resize(cpu_, size << kKbShift));
  return bytes.size();
}

Result<std::string> BufferTotalSizeKb::text() {
  LT_CHECK(instance_->get());
  std::uint64_t sum = 0;
  for (std::uint32_t cpu = 0; cpu < instance_->buffer.cpus(); ++cpu) sum += instance_->buffer.bytes(cpu) >> kKbShift;
  return line_of(sum);
}

Result<std::string> BufferSubbufSizeKb::text() {
  LT_CHECK(instance_->get());
  return line_of(instance_->buffer.sub_buffer_bytes() >> kKbShift);
}

Result<std::size_t> BufferSubbufSizeKb::store(const Caller&, std::string_view bytes) {
  LT_CHECK(instance_->get());
  LT_TRY(const std::uint64_t size, number_in(bytes, 10));
  if (size == 0 || size > kPageKb << buffer::kMaxSubBufferOrder) return fail(EINVAL, "a sub-buffer has 1 to 128 pages");
  const std::uint64_t pages = (size + kPageKb - 1) / kPageKb;
  instance_->buffer.set_sub_buffer_order(static_cast<unsigned>(std::bit_width(pages - 1)));
  return bytes.size();
}

}  // namespace landtrace::tracefs
