// What an instance records, and its snapshot: two sets of rings, which a snapshot swaps as in the kernel. Sizes are
// shown as the kernel shows them, in sub-buffers with a header of 16 bytes; the rings hold at least as much.
#pragma once

#include <memory>
#include <vector>

#include "buffer/contents.hpp"
#include "domain/domain.hpp"

namespace landtrace::buffer {

inline constexpr std::uint64_t kPageBytes = 4096;
inline constexpr std::uint64_t kSubBufferHeader = 16;
inline constexpr unsigned kMaxSubBufferOrder = 7;  // 2^7 pages

// The domain must outlive it. The caller holds the domain, and has checked that the instance is still there.
class Buffer : private domain::SnapshotKeeper {
 public:
  Buffer(domain::Domain& domain, std::uint32_t instance_index);
  ~Buffer() override;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // The instance; nullptr once it is gone. Then nothing else here may be called.
  [[nodiscard]] domain::Instance* instance() const;

  // main() and snapshot() first do the swaps that triggers have made since the last call.
  [[nodiscard]] const std::shared_ptr<Contents>& main() {
    follow_flips();
    return main_;
  }
  // nullptr: the instance has no snapshot.
  [[nodiscard]] const std::shared_ptr<Contents>& snapshot() {
    follow_flips();
    return snapshot_;
  }

  // Swaps the two sets of rings: what was recorded becomes the snapshot, and recording goes on in the other set,
  // which is made if the instance has none yet. No event is lost between the two, and no producer waits. ENOMEM.
  Result<void> take_snapshot();
  // EBUSY while triggers may take one.
  Result<void> free_snapshot();
  // Forgets everything, the snapshot's contents too.
  void clear_all();

  [[nodiscard]] std::uint32_t cpus() const { return static_cast<std::uint32_t>(sub_buffers_.size()); }
  // Sets the size of one CPU's buffer. What is in it stays, as far as there is room for the newest. ENOMEM.
  Result<void> resize(std::uint32_t cpu, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes(std::uint32_t cpu) const { return sub_buffers_[cpu] * usable_bytes(); }
  // A sub-buffer has 4096 << order bytes: trace_pipe_raw hands out so many at a time. As in the kernel the buffer is
  // emptied.
  void set_sub_buffer_order(unsigned order);
  [[nodiscard]] std::uint64_t sub_buffer_bytes() const { return kPageBytes << order_; }
  // The most bytes that one of ftrace's own events can have, its header included.
  [[nodiscard]] std::uint64_t largest_event() const { return usable_bytes() - 8; }

  [[nodiscard]] bool overwrite() const { return main_->place().overwrite; }
  void set_overwrite(bool overwrite);

 private:
  [[nodiscard]] std::uint64_t usable_bytes() const { return sub_buffer_bytes() - kSubBufferHeader; }
  [[nodiscard]] std::uint64_t count_for(std::uint64_t bytes) const;
  Result<std::shared_ptr<Contents>> make_contents(ring::Geometry geometry);
  // From here on the instance records into `next`.
  Result<void> switch_to(std::shared_ptr<Contents> next);
  // Gives the snapshot rings as large as the instance's.
  Result<void> make_snapshot();
  // Lets triggers take snapshots, or no longer.
  Result<void> arm_snapshot(bool armed) override;
  void user_goes(std::uint32_t user) override;
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
  std::uint64_t flips_ = 0;  // how many swaps by triggers are in main_ and snapshot_ already
};

}  // namespace landtrace::buffer
