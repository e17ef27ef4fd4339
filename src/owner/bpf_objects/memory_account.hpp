// What the owner has in its own memory for users' connections: programs as they come in pieces and while they are
// loaded, and logs.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/result.hpp"

namespace landtrace::bpf_objects {

class MemoryAccount {
 public:
  // Of a guest.
  static constexpr std::uint64_t kMostOfGuest = 8ull << 20;

 private:
  struct Total {
    std::uint64_t bytes = 0;
    std::uint64_t most = 0;
  };

 public:
  // Counts something as long as it is there.
  class Charge {
   public:
    Charge() = default;
    explicit Charge(std::shared_ptr<Total> total) : total_(std::move(total)) {}
    Charge(Charge&& other) noexcept : total_(std::move(other.total_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
      std::swap(total_, other.total_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;
    ~Charge() {
      if (total_ != nullptr) total_->bytes -= bytes_;
    }

    // It has so many bytes from here on. ENOMEM: that would be too much for its user.
    Result<void> set(std::uint64_t bytes) {
      if (total_ == nullptr) return {};
      const std::uint64_t total = total_->bytes - bytes_ + bytes;
      if (bytes > bytes_ && total > total_->most) {
        return fail(ENOMEM, fmt::format("programs that a user is loading, and logs of them that were not read, have at "
                                        "most {} MiB together",
                                        total_->most >> 20));
      }
      total_->bytes = total;
      bytes_ = bytes;
      return {};
    }

   private:
    std::shared_ptr<Total> total_;
    std::uint64_t bytes_ = 0;
  };

  Charge charge(std::uint32_t uid, bool is_guest) {
    std::shared_ptr<Total> total = totals_[uid].lock();
    if (total == nullptr) totals_[uid] = total = std::make_shared<Total>();
    total->most = is_guest ? kMostOfGuest : ~0ull;
    return Charge(std::move(total));
  }

 private:
  std::map<std::uint32_t, std::weak_ptr<Total>> totals_;
};

}  // namespace landtrace::bpf_objects
