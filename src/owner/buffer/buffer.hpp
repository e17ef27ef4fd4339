// What an instance records, and its snapshot: two sets of rings that a snapshot swaps, as the kernel's does. Sizes are told
// as the kernel tells them, in sub-buffers with a header of 16 bytes; the rings behind hold at least as much.
#pragma once

#include <memory>
#include <vector>

#include "buffer/contents.hpp"

namespace landtrace::buffer {

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kSubBufferHeader = 16;
inline constexpr unsigned kMaxSubBufferOrder = 7;  // 2^7 pages

// The domain must outlive it. Who calls it holds the domain, and has found the instance to be there.
class Buffer {
 public:
  Buffer(domain::Domain& domain, std::uint32_t instance_index);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // The instance; nullptr once it is gone. Then nothing else here may be called.
  [[nodiscard]] domain::Instance* instance() const;

  // As triggers have exchanged the two by now.
  [[nodiscard]] const std::shared_ptr<Contents>& main() {
    follow_flips();
    return main_;
  }
  // nullptr: there is none.
  [[nodiscard]] const std::shared_ptr<Contents>& snapshot() {
    follow_flips();
    return snapshot_;
  }

  // What is recorded from here on goes into what the snapshot was, and that into the snapshot; made when there is none.
  // No event is lost between, and no producer waits. ENOMEM.
  Result<void> take_snapshot();
  // EBUSY while triggers may take one.
  Result<void> free_snapshot();
  // Forgets everything, the snapshot's contents too.
  void clear_all();

  [[nodiscard]] std::uint32_t cpus() const { return static_cast<std::uint32_t>(sub_buffers_.size()); }
  // The size of one CPU's buffer; what stands in it now stays, the newest first.  ENOMEM.
  Result<void> resize(std::uint32_t cpu, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes(std::uint32_t cpu) const { return sub_buffers_[cpu] * usable_bytes(); }
  // 4096 << order bytes in a sub-buffer: what trace_pipe_raw hands out at a time. As in the kernel the buffer is emptied.
  void set_sub_buffer_order(unsigned order);
  [[nodiscard]] std::uint64_t sub_buffer_bytes() const { return kPageBytes << order_; }
  // The most bytes that one event of ftrace's own can have, its header included.
  [[nodiscard]] std::uint64_t largest_event() const { return usable_bytes() - 8; }

  [[nodiscard]] bool overwrite() const { return main_->place().overwrite; }
  void set_overwrite(bool overwrite);

 private:
  [[nodiscard]] std::uint64_t usable_bytes() const { return sub_buffer_bytes() - kSubBufferHeader; }
  [[nodiscard]] std::uint64_t count_for(std::uint64_t bytes) const;
  Result<std::shared_ptr<Contents>> make_contents(ring::Geometry geometry);
  // The instance records into `next` from here on.
  Result<void> switch_to(std::shared_ptr<Contents> next);
  // The snapshot has rings, as large as the instance's.
  Result<void> make_snapshot();
  // Triggers may take snapshots from here on, or no more.
  Result<void> arm(bool armed);
  void follow_flips();
  void exchange();
  Result<void> resize_rings(ring::Geometry geometry);
  Result<void> resize_both(ring::Geometry geometry);

  domain::Domain& domain_;
  std::uint32_t index_;
  std::uint64_t serial_;
  std::shared_ptr<Contents> main_;
  std::shared_ptr<Contents> snapshot_;
  std::vector<std::uint64_t> sub_buffers_;  // by CPU
  unsigned order_ = 0;
  std::uint64_t flips_ = 0;  // of the instance's, that were followed
};

}  // namespace landtrace::buffer
