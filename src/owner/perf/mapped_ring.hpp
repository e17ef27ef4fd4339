// The memory that a program maps in the place of a perf event's descriptor: a page that says where things are, and
// records behind it.
//
//   0                    4096                                       4096 + size
//   +--------------------+--------------------------------------------+
//   | data_head  (ours)  |  records; position p lies at p mod size    |
//   | data_tail  (its)   |                                            |
//   +--------------------+--------------------------------------------+
//
// Written backwards (attr.write_backward), data_head falls from 0 on, and the newest record stands at data_head:
// whoever looks rarely at a ring that keeps the newest finds the beginning of a record there.
//
// The program may write anywhere here. What we need is kept beside it, and data_tail is bounded.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/mapping.hpp"

namespace landtrace::perf {

class MappedRing {
 public:
  static constexpr std::size_t kPage = 4096;

  struct Way {
    // The program cannot say how far it has read (it has mapped the page for reading alone): the newest records are
    // kept.
    bool overwrites = false;
    bool backward = false;
  };
  // `data_pages` is 0 or a power of two. ENOMEM.
  static Result<std::shared_ptr<MappedRing>> create(std::size_t data_pages, Way way);

  [[nodiscard]] int fd() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return mapping_.size(); }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool overwrites() const { return way_.overwrites; }
  [[nodiscard]] bool is_backward() const { return way_.backward; }

  // How far the program says that it has read.
  [[nodiscard]] std::uint64_t tail() const;
  // Written and not read yet; of a ring that overwrites, written since forget_unread().
  [[nodiscard]] std::uint64_t unread() const;
  [[nodiscard]] bool fits(std::size_t record) const;
  // It must fit. The program sees it from publish() on.
  void write(std::span<const std::byte> record);
  void publish();
  void forget_unread() { seen_ = head_; }
  // Records that have been written so far, and their bytes.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  [[nodiscard]] std::uint64_t written_bytes() const { return way_.backward ? 0 - head_ : head_; }
  // Whether this process has it mapped once more than here.
  [[nodiscard]] bool is_mapped_besides() const;

 private:
  MappedRing(Fd memory, Mapping mapping, Way way);
  [[nodiscard]] perf_event_mmap_page& page() const { return *reinterpret_cast<perf_event_mmap_page*>(mapping_.data()); }

  Fd memory_;
  Mapping mapping_;
  std::uint64_t size_;
  Way way_;
  std::uint64_t head_ = 0;
  // As far as forget_unread() was told of.
  std::uint64_t seen_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace landtrace::perf
