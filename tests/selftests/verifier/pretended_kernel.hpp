// What libbpf takes for the kernel: maps are made of nothing, and a program is shown to our verifier.
#pragma once

#include <linux/bpf.h>

#include <map>
#include <optional>
#include <string>

#include "bpf/map_layout.hpp"
#include "verifier/verify.hpp"

namespace landtrace::verifier_cases {

class PretendedKernel {
 public:
  static PretendedKernel& get();

  // The program that is asked about, and what it runs on: libbpf tries out others before, to see what there is.
  void ask_about(const char* name, bpf::Context context, unsigned log_level);
  // nullopt: libbpf did not get as far as loading it.
  [[nodiscard]] const std::optional<verifier::Verdict>& verdict() const { return verdict_; }
  // Where all that was wrong was that it returns a pointer: what is said of it when somebody calls it who returns 0.
  [[nodiscard]] const std::optional<verifier::Verdict>& called() const { return called_; }

  // As the system call: a descriptor or 0, or a negative errno.
  long answer(int command, const bpf_attr& call);

 private:
  long create_map(const bpf_attr& call);
  long load(const bpf_attr& call);
  void verify(const bpf_attr& call);

  // By descriptor. nullopt: of a kind that is not known here.
  std::map<int, std::optional<bpf::MapLayout>> maps_;
  std::string name_;
  bpf::Context context_{};
  unsigned log_level_ = 0;
  std::optional<verifier::Verdict> verdict_;
  std::optional<verifier::Verdict> called_;
};

}  // namespace landtrace::verifier_cases
