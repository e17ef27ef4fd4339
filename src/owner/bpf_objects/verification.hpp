// A program that is being verified, in a thread of its own: that may take a second, and nobody else waits for it. It
// has all that it needs, and goes on to its end though nobody may ask for its answer any more.
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
  Verification(std::vector<bpf::Instruction> code, std::vector<bpf::MapLayout> maps, bpf::Context context,
               unsigned log_level)
      : code_(std::move(code)), maps_(std::move(maps)), context_(context), log_level_(log_level) {}

  // Begins it, and waits a little: small programs take no longer than that.
  static void begin(const std::shared_ptr<Verification>& one, programs::PatientWorker& worker) {
    constexpr std::chrono::milliseconds kPatience{20};
    std::ignore = worker.run([one] { one->run(); }, kPatience);
  }

  void run() {
    verdict_ = verifier::verify(code_, maps_, context_, log_level_);
    is_done_.store(true, std::memory_order_release);  // pairs with the acquire load in is_done()
  }

  // Pairs with the release store in run().
  [[nodiscard]] bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  // Once it is done.
  [[nodiscard]] const verifier::Verdict& verdict() const { return verdict_; }
  [[nodiscard]] const std::vector<bpf::Instruction>& code() const { return code_; }

 private:
  std::vector<bpf::Instruction> code_;
  std::vector<bpf::MapLayout> maps_;
  bpf::Context context_;
  unsigned log_level_;
  verifier::Verdict verdict_;
  std::atomic<bool> is_done_ = false;  // the release store in run() pairs with the acquire load in is_done()
};

}  // namespace landtrace::bpf_objects
