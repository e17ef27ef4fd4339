#include "perf/sample.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "abi/entry.hpp"
#include "abi/user_events.hpp"

namespace landtrace::perf {
namespace {

template <typename T>
void put(Bytes& out, T value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

void put_text(Bytes& out, std::string_view text) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
  out.push_back({});
}

void pad(Bytes& out) { out.resize((out.size() + 7) & ~std::size_t{7}); }

void begin(Bytes& out, std::uint32_t type, std::uint16_t misc) {
  out.clear();
  put(out, perf_event_header{type, misc, 0});
}

void finish(Bytes& out) {
  const auto size = static_cast<std::uint16_t>(std::min(out.size(), kLargestRecord));
  std::memcpy(out.data() + offsetof(perf_event_header, size), &size, sizeof size);
}

// Behind each record that is no sample.
void put_trailer(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts) {
  if (attr.sample_id_all == 0) return;
  const std::uint64_t wanted = attr.sample_type;
  if ((wanted & PERF_SAMPLE_TID) != 0) {
    put(out, facts.pid);
    put(out, facts.tid);
  }
  if ((wanted & PERF_SAMPLE_TIME) != 0) put(out, facts.time);
  if ((wanted & PERF_SAMPLE_ID) != 0) put(out, facts.id);
  if ((wanted & PERF_SAMPLE_STREAM_ID) != 0) put(out, facts.id);
  if ((wanted & PERF_SAMPLE_CPU) != 0) put(out, std::uint64_t{facts.cpu});
  if ((wanted & PERF_SAMPLE_IDENTIFIER) != 0) put(out, facts.id);
}

void put_frames(Bytes& out, const SampleFacts& facts) {
  if (facts.frames.empty()) return put(out, std::uint64_t{0});
  put(out, std::uint64_t{facts.frames.size() + 1});
  put(out, static_cast<std::uint64_t>(PERF_CONTEXT_USER));
  for (const std::uint64_t frame : facts.frames) put(out, frame);
}

// The entry, in so many bytes that a multiple of 8 follows its size.
void put_raw(Bytes& out, const SampleFacts& facts) {
  const std::size_t bytes = abi::kEntryHeaderSize + facts.payload.size();
  const std::size_t padded = ((bytes + sizeof(std::uint32_t) + 7) & ~std::size_t{7}) - sizeof(std::uint32_t);
  put(out, static_cast<std::uint32_t>(padded));
  put(out, facts.type);
  put(out, std::uint16_t{0});
  put(out, facts.tid);
  out.insert(out.end(), facts.payload.begin(), facts.payload.end());
  out.resize(out.size() + (padded - bytes));
}

// Branches, registers, stacks, weights and the like: an event of a program has none of these.
void put_absent(Bytes& out, std::uint64_t wanted) {
  constexpr std::uint64_t kAbsent[] = {PERF_SAMPLE_BRANCH_STACK,
                                       PERF_SAMPLE_REGS_USER,
                                       PERF_SAMPLE_STACK_USER,
                                       PERF_SAMPLE_WEIGHT,
                                       PERF_SAMPLE_DATA_SRC,
                                       PERF_SAMPLE_TRANSACTION,
                                       PERF_SAMPLE_REGS_INTR,
                                       PERF_SAMPLE_PHYS_ADDR,
                                       PERF_SAMPLE_AUX,
                                       PERF_SAMPLE_CGROUP,
                                       PERF_SAMPLE_DATA_PAGE_SIZE,
                                       PERF_SAMPLE_CODE_PAGE_SIZE,
                                       PERF_SAMPLE_WEIGHT_STRUCT};
  for (const std::uint64_t one : kAbsent) {
    if ((wanted & one) != 0) put(out, std::uint64_t{0});
  }
}

}  // namespace

void make_sample(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts) {
  begin(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
  const std::uint64_t wanted = attr.sample_type;
  if ((wanted & PERF_SAMPLE_IDENTIFIER) != 0) put(out, facts.id);
  if ((wanted & PERF_SAMPLE_IP) != 0) put(out, facts.frames.empty() ? facts.address : facts.frames.front());
  if ((wanted & PERF_SAMPLE_TID) != 0) {
    put(out, facts.pid);
    put(out, facts.tid);
  }
  if ((wanted & PERF_SAMPLE_TIME) != 0) put(out, facts.time);
  if ((wanted & PERF_SAMPLE_ADDR) != 0) put(out, std::uint64_t{0});
  if ((wanted & PERF_SAMPLE_ID) != 0) put(out, facts.id);
  if ((wanted & PERF_SAMPLE_STREAM_ID) != 0) put(out, facts.id);
  if ((wanted & PERF_SAMPLE_CPU) != 0) put(out, std::uint64_t{facts.cpu});
  if ((wanted & PERF_SAMPLE_PERIOD) != 0) put(out, facts.period);
  if ((wanted & PERF_SAMPLE_READ) != 0) {
    for (const std::uint64_t word : make_reading(attr.read_format, facts.readings)) put(out, word);
  }
  if ((wanted & PERF_SAMPLE_CALLCHAIN) != 0) put_frames(out, facts);
  if ((wanted & PERF_SAMPLE_RAW) != 0) put_raw(out, facts);
  put_absent(out, wanted);
  finish(out);
}

void make_lost(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts, std::uint64_t count) {
  begin(out, PERF_RECORD_LOST, 0);
  put(out, facts.id);
  put(out, count);
  put_trailer(out, attr, facts);
  finish(out);
}

void make_name(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts, std::string_view name) {
  begin(out, PERF_RECORD_COMM, 0);
  put(out, facts.pid);
  put(out, facts.tid);
  put_text(out, name);
  pad(out);
  put_trailer(out, attr, facts);
  finish(out);
}

void make_mapping(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts, const MappedFile& file) {
  constexpr std::size_t kMostBuildId = 20;
  const bool is_second = attr.mmap2 != 0;
  const bool has_id = is_second && !file.build_id.empty() && file.build_id.size() <= kMostBuildId;
  begin(out, is_second ? PERF_RECORD_MMAP2 : PERF_RECORD_MMAP,
        PERF_RECORD_MISC_USER | (has_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
  put(out, facts.pid);
  put(out, facts.tid);
  put(out, file.address);
  put(out, file.size);
  put(out, file.file_offset);
  if (is_second) {
    put(out, static_cast<std::uint32_t>(has_id ? file.build_id.size() : 0));
    const std::size_t id_at = out.size();
    // Else device, inode and generation.
    out.resize(id_at + kMostBuildId);
    if (has_id) std::memcpy(out.data() + id_at, file.build_id.data(), file.build_id.size());
    put(out, std::uint32_t{PROT_READ | PROT_EXEC});
    put(out, std::uint32_t{MAP_PRIVATE});
  }
  put_text(out, file.path);
  pad(out);
  put_trailer(out, attr, facts);
  finish(out);
}

std::vector<std::uint64_t> make_reading(std::uint64_t read_format, std::span<const Reading> group) {
  const auto has = [&](std::uint64_t what) { return (read_format & what) != 0; };
  const Reading& leader = group.front();
  std::vector<std::uint64_t> words;
  if (has(PERF_FORMAT_GROUP)) {
    words.push_back(group.size());
  } else {
    words.push_back(leader.value);
  }
  if (has(PERF_FORMAT_TOTAL_TIME_ENABLED)) words.push_back(leader.enabled_ns);
  if (has(PERF_FORMAT_TOTAL_TIME_RUNNING)) words.push_back(leader.running_ns);
  for (const Reading& one : has(PERF_FORMAT_GROUP) ? group : group.first(1)) {
    if (has(PERF_FORMAT_GROUP)) words.push_back(one.value);
    if (has(PERF_FORMAT_ID)) words.push_back(one.id);
    if (has(PERF_FORMAT_LOST)) words.push_back(one.lost);
  }
  return words;
}

}  // namespace landtrace::perf
