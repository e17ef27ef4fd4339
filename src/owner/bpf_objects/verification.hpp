// A program that is being verified, and code that is made of it, in a thread of its own: that may take a second, and
// nobody else waits for it. It has all that it needs, and goes on to its end though nobody may ask for its answer any
// more.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "bpf/context.hpp"
#include "programs/patient_worker.hpp"
#include "verifier/verify.hpp"

namespace landtrace::bpf_objects {

class Verification {
 public:
  struct Wish {
    std::vector<bpf::Instruction> code;
    std::vector<bpf::MapLayout> maps;
    bpf::Context context;
    unsigned log_level;
    // Else it is only verified.
    bool makes_code;
    // What is kept of a longer log is its end.
    std::size_t max_log;
  };
  explicit Verification(Wish wish) : wish_(std::move(wish)) {}

  // Begins it, and waits a little: small programs take no longer than that.
  static void begin(const std::shared_ptr<Verification>& one, programs::PatientWorker& worker) {
    constexpr std::chrono::milliseconds kPatience{20};
    std::ignore = worker.run([one] { one->run(); }, kPatience);
  }

  void run();

  // What it takes of memory when it is done, at most.
  [[nodiscard]] static std::uint64_t most_bytes(std::size_t instructions, std::size_t max_log) {
    constexpr std::uint64_t kCodeOfOne = 128;
    return max_log + instructions * (2 * sizeof(bpf::Instruction) + kCodeOfOne);
  }

  // Pairs with the release store in run().
  [[nodiscard]] bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  [[nodiscard]] const std::vector<bpf::Instruction>& code() const { return wish_.code; }
  // Once it is done.
  [[nodiscard]] const verifier::Verdict& verdict() const { return verdict_; }
  // As it is published: references to maps are numbers of windows and handles.
  [[nodiscard]] const std::vector<bpf::Instruction>& placed() const { return placed_; }
  // Empty: it is interpreted.
  [[nodiscard]] const std::vector<std::byte>& machine_code() const { return machine_code_; }

 private:
  Wish wish_;
  verifier::Verdict verdict_;
  std::vector<bpf::Instruction> placed_;
  std::vector<std::byte> machine_code_;
  std::atomic<bool> is_done_ = false;  // the release store in run() pairs with the acquire load in is_done()
};

}  // namespace landtrace::bpf_objects
