// A sink that hands on the events of some processes alone: those that --pid names.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "consumer/recorder_sink.hpp"

namespace landtrace::cli {

class ProcessSink : public consumer::RecorderSink {
 public:
  // Without any process of all. `sink` must outlive it.
  ProcessSink(consumer::RecorderSink& sink, std::vector<std::uint32_t> pids) : sink_(sink), pids_(std::move(pids)) {}

  void type(const output::EventType& type) override { sink_.type(type); }
  void task(std::int32_t tid, const output::Task& task) override {
    processes_[tid] = task.tgid;
    sink_.task(tid, task);
  }
  void object(const unwind::MappedObject& object) override { sink_.object(object); }
  void event(const output::Record& record, const output::EventType& type) override {
    if (is_theirs(record.tid)) sink_.event(record, type);
  }
  // Whose they were nobody knows.
  void lost(std::uint32_t cpu, std::uint64_t count) override { sink_.lost(cpu, count); }
  void outstanding(std::uint32_t cpu, consumer::Outstanding events) override { sink_.outstanding(cpu, events); }
  void settled(std::uint64_t horizon_ns) override { sink_.settled(horizon_ns); }
  Result<void> finish() override { return sink_.finish(); }

  [[nodiscard]] const std::optional<Error>& failure() const override { return sink_.failure(); }
  [[nodiscard]] std::uint64_t written() const override { return sink_.written(); }
  [[nodiscard]] std::uint64_t bytes() const override { return sink_.bytes(); }

 private:
  [[nodiscard]] bool is_theirs(std::int32_t tid) const {
    if (pids_.empty()) return true;
    const auto process = processes_.find(tid);
    const bool is_known = process != processes_.end() && process->second != 0;
    const std::uint32_t pid = is_known ? process->second : static_cast<std::uint32_t>(tid);
    return std::find(pids_.begin(), pids_.end(), pid) != pids_.end();
  }

  consumer::RecorderSink& sink_;
  const std::vector<std::uint32_t> pids_;
  std::unordered_map<std::int32_t, std::uint32_t> processes_;  // by thread
};

}  // namespace landtrace::cli
