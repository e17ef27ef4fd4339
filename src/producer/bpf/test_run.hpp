// Programs in a test: maps in the test's memory, and a place that says what it is asked.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "bpf/interpret.hpp"
#include "bpf/run.hpp"
#include "bpf/test_code.hpp"
#include "bpf_objects/map_shape.hpp"

namespace landtrace::bpf {

inline constexpr std::uint32_t kTestCpus = 2;

struct TestPlace final : Surroundings {
  std::uint32_t cpu() override { return cpu_now; }
  std::uint32_t tid() override { return 7; }
  std::uint64_t pid_tgid() override { return 5ull << 32 | 7; }
  std::uint64_t uid_gid() override { return 100ull << 32 | 1000; }
  void comm(char* name) override { std::memcpy(name, "tester\0\0\0\0\0\0\0\0\0", kCommSize); }
  std::uint64_t time_ns() override { return 1234567; }
  std::uint32_t capture_stack(std::uint64_t* frames, std::uint32_t max) override {
    for (std::uint32_t i = 0; i < 3 && i < max; ++i) frames[i] = 0x1000 + i;
    return 3;
  }
  std::size_t read_memory(std::uint64_t from, void* to, std::size_t size) override {
    const std::string_view there = memory;
    if (from < kAt || from - kAt > there.size()) return 0;
    const std::size_t has = std::min<std::size_t>(size, there.size() - (from - kAt));
    std::memcpy(to, there.data() + (from - kAt), has);
    return has;
  }
  bool read_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length) override {
    length = read_memory(from, to, size);
    const void* const end = std::memchr(to, 0, length);
    if (end != nullptr) length = static_cast<std::size_t>(static_cast<const char*>(end) - to) + 1;
    return length > 0;
  }

  // What lies at kAt in the program's memory.
  static constexpr std::uint64_t kAt = 0x10000;
  std::string memory = std::string("hello\0", 6);
  std::uint32_t cpu_now = 0;
};

class TestMaps {
 public:
  // Numbers of maps are those of the wishes.
  explicit TestMaps(const std::vector<bpf_objects::MapWish>& wishes = {}) {
    for (const bpf_objects::MapWish& wish : wishes) {
      auto layout = bpf_objects::shape_map(wish, kTestCpus);
      if (!layout) throw std::runtime_error(layout.error().message);
      layout->place = size_;
      size_ += layout->bytes;
      layouts.push_back(*layout);
    }
    // A page behind it that nobody may touch.
    data = static_cast<std::byte*>(
        ::mmap(nullptr, size_ + kMapPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ::mprotect(data + size_, kMapPage, PROT_NONE);
  }
  ~TestMaps() { ::munmap(data, size_ + kMapPage); }
  TestMaps(const TestMaps&) = delete;
  TestMaps& operator=(const TestMaps&) = delete;

  // All that programs can change.
  [[nodiscard]] std::string_view bytes() const { return {reinterpret_cast<const char*>(data), size_}; }
  void clear() const { std::memset(data, 0, size_); }

  static constexpr std::uint64_t kFigures = 1024;
  std::vector<MapLayout> layouts;
  std::byte* data;
  [[nodiscard]] const Figures& figures() const { return *reinterpret_cast<const Figures*>(data + kFigures); }

 private:
  std::uint64_t size_ = kMapPage;
};

// As the owner publishes one.
class TestProgram {
 public:
  TestProgram(const std::vector<MapLayout>& maps, code::Code code, std::uint32_t frames = 1,
              Context context = Context::kEntry) {
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
      if (code[i].code != kLoadConstant) continue;
      Instruction& one = code[i++];
      const auto map = static_cast<std::uint32_t>(one.imm);
      std::uint64_t value = constant_of(&one);
      if (one.src_reg == BPF_PSEUDO_MAP_FD) value = map_handle(map);
      if (one.src_reg == BPF_PSEUDO_MAP_VALUE)
        value = window_address(kFirstMapWindow + map, static_cast<std::uint32_t>(code[i].imm));
      one.src_reg = 0;
      one.imm = static_cast<std::int32_t>(value);
      code[i].imm = static_cast<std::int32_t>(value >> 32);
    }
    bytes_.resize((sizeof(Program) + maps.size() * sizeof(MapLayout) + code.size() * sizeof(Instruction)) / 8);
    Program head{};
    head.instruction_count = static_cast<std::uint32_t>(code.size());
    head.map_count = static_cast<std::uint32_t>(maps.size());
    head.frames = frames;
    head.context = context;
    head.figures = TestMaps::kFigures;
    head.rows = 2048;
    head.row_count = kTestCpus;
    auto* at = reinterpret_cast<std::byte*>(bytes_.data());
    std::memcpy(at, &head, sizeof head);
    if (!maps.empty()) std::memcpy(at + sizeof head, maps.data(), maps.size() * sizeof(MapLayout));
    std::memcpy(at + sizeof head + maps.size() * sizeof(MapLayout), code.data(), code.size() * sizeof(Instruction));
  }

  [[nodiscard]] const Program& program() const { return *reinterpret_cast<const Program*>(bytes_.data()); }
  std::uint64_t run(const TestMaps& maps, Surroundings& place, std::string_view payload = {}) const {
    return run_program(program(), maps.data, code_area_, place, reinterpret_cast<const std::byte*>(payload.data()),
                       payload.size());
  }

  // From here on `area` is where its code is, `at` bytes behind the beginning; nullptr: it is interpreted.
  void use_code(const std::byte* area, std::uint32_t at) {
    code_area_ = area;
    reinterpret_cast<Program*>(bytes_.data())->code = at;
  }

 private:
  const std::byte* code_area_ = nullptr;
  std::vector<std::uint64_t> bytes_;
};

}  // namespace landtrace::bpf
