// The options of an instance, as trace_options lists them: those of Linux 6.12 with its nop tracer. Those that mean
// nothing in user space (symbols, functions, printk) are kept and read back, and so is pause-on-trace.
#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::tracefs {

// In the order in which they are listed.
enum class TraceOption : std::uint8_t {
  kPrintParent,
  kSymOffset,
  kSymAddr,
  kVerbose,
  kRaw,
  kHex,
  kBin,
  kBlock,
  kFields,
  kTracePrintk,
  kAnnotate,
  kUserStackTrace,
  kSymUserObj,
  kPrintkMsgOnly,
  kContextInfo,
  kLatencyFormat,
  kRecordCmd,
  kRecordTgid,
  kOverwrite,
  kDisableOnFree,
  kIrqInfo,
  kMarkers,
  kEventFork,
  kTracePrintkDest,
  kPauseOnTrace,
  kHashPtr,
  kFunctionTrace,
  kFunctionFork,
  kStackTrace,
  kTestNopAccept,
  kTestNopRefuse,
  kListed,
  // Ours, and not listed: trace_pipe has a line for each event, whatever programs write (TextStyle::whole_lines).
  kWholeLines = kListed,
  kCount,
};

inline constexpr std::size_t kTraceOptions = static_cast<std::size_t>(TraceOption::kListed);

std::string_view name_of(TraceOption option);
std::optional<TraceOption> option_named(std::string_view name);
// Whether only the top instance has a file for it in options/ (trace_options lists it everywhere).
bool is_of_the_top(TraceOption option);

class TraceOptions {
 public:
  // The initial options of the top instance.
  TraceOptions();
  // The initial options of another instance: those of `top`, but some are off.
  static TraceOptions of_instance(const TraceOptions& top);

  [[nodiscard]] bool operator[](TraceOption option) const { return bits_[static_cast<std::size_t>(option)]; }
  void set(TraceOption option, bool on) { bits_[static_cast<std::size_t>(option)] = on; }

 private:
  std::bitset<static_cast<std::size_t>(TraceOption::kCount)> bits_;
};

}  // namespace landtrace::tracefs
