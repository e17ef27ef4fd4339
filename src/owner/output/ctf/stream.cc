#include "output/ctf/stream.hpp"

#include <algorithm>
#include <cstring>

#include "output/trace_dat/put.hpp"

namespace landtrace::output::ctf {
namespace {

using trace_dat::put;

constexpr std::uint32_t kMagic = 0xc1fc1fc1;
constexpr std::uint32_t kStreamId = 0;
constexpr std::size_t kHeadSize = 4 + 16 + 4 + 5 * 8 + 4;
constexpr std::size_t kFull = 128 * 1024;

// Where a packet's head has its size in bits.
constexpr std::size_t kPacketBits = 4 + 16 + 4 + 3 * 8;

}  // namespace

namespace {

// As its head says; 0: it is none.
std::uint64_t told_size(std::string_view head) {
  std::uint32_t magic = 0;
  std::uint64_t bits = 0;
  std::memcpy(&magic, head.data(), sizeof magic);
  std::memcpy(&bits, head.data() + kPacketBits, sizeof bits);
  return magic == kMagic && bits % 8 == 0 && bits / 8 >= kHeadSize ? bits / 8 : 0;
}

}  // namespace

std::size_t packet_size(std::string_view bytes) {
  const std::uint64_t size = bytes.size() < kHeadSize ? 0 : told_size(bytes);
  return size <= bytes.size() ? size : 0;
}

bool begins_packet(std::string_view bytes) {
  if (bytes.size() >= kHeadSize) return told_size(bytes) > bytes.size();
  return std::memcmp(bytes.data(), &kMagic, std::min(bytes.size(), sizeof kMagic)) == 0;
}

Stream::Stream(Fd fd, std::uint32_t cpu, const Uuid& uuid)
    : fd_(std::move(fd)), target_(std::make_unique<Target>(fd_.get())), cpu_(cpu), uuid_(uuid) {}

std::string& Stream::begin_event(std::uint16_t id, std::uint64_t time_ns) {
  if (events_.size() >= kFull) put_packet(last_ns_);
  last_ns_ = std::max(last_ns_, time_ns);
  if (events_.empty()) begin_ns_ = last_ns_;
  put(events_, id);
  put(events_, last_ns_);
  return events_;
}

// A reader takes the difference of two packets, for the time between their ends. So one that has no events is put
// where they are missing; and one before that, where it would be the first.
void Stream::lost(std::uint64_t count, std::uint64_t time_ns) {
  if (!events_.empty()) put_packet(last_ns_);
  if (!has_packets_) {
    begin_ns_ = last_ns_ = time_ns;
    put_packet(last_ns_);
  }
  lost_ += count;
  begin_ns_ = last_ns_;
  last_ns_ = std::max(last_ns_, time_ns);
  put_packet(last_ns_);
}

void Stream::put_packet(std::uint64_t end_ns) {
  std::string& out = target_->bytes();
  const std::uint64_t bits = (kHeadSize + events_.size()) * 8;
  put(out, kMagic);
  out.append(reinterpret_cast<const char*>(uuid_.data()), uuid_.size());
  put(out, kStreamId);
  put(out, begin_ns_);
  put(out, end_ns);
  put(out, bits);  // of what is in it
  put(out, bits);  // and of all of it
  put(out, lost_);
  put(out, cpu_);
  out += events_;
  events_.clear();
  has_packets_ = true;
  target_->flush_if_full();
}

void Stream::flush() {
  if (!events_.empty()) put_packet(last_ns_);
  target_->flush();
}

}  // namespace landtrace::output::ctf
