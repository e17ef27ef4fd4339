// A stream of a CTF trace: the events of one CPU, in packets.
//
//     packet: header    magic, uuid, stream id
//             context   times of its first and last event, its size, how many events had been lost by its end, the CPU
//             events    one behind the other
//
// All numbers are little-endian and follow each other without a gap.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.hpp"
#include "output/ctf/metadata.hpp"
#include "output/export/target.hpp"

namespace landtrace::output::ctf {

// Of the packet at the beginning of a stream's bytes, all of it; 0: there is none, or it is not whole.
std::size_t packet_size(std::string_view bytes);
// Whether bytes that are no whole packet are the beginning of one.
bool begins_packet(std::string_view bytes);

class Stream {
 public:
  Stream(Fd fd, std::uint32_t cpu, const Uuid& uuid);

  // Where an event's bytes are appended, behind its id and time. A time before the last one becomes that.
  std::string& begin_event(std::uint16_t id, std::uint64_t time_ns);
  // So many events are missing between the last one and this time.
  void lost(std::uint64_t count, std::uint64_t time_ns);
  // All until now is in the file, in whole packets.
  void flush();

  [[nodiscard]] const Result<void>& result() const { return target_->result(); }

 private:
  void put_packet(std::uint64_t end_ns);

  Fd fd_;
  std::unique_ptr<Target> target_;
  std::uint32_t cpu_;
  Uuid uuid_;
  std::string events_;  // of the packet that is being filled
  std::uint64_t begin_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t lost_ = 0;
  bool has_packets_ = false;
};

}  // namespace landtrace::output::ctf
