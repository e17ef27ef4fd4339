// Input: a byte that says what the context is and how the program is made, then instructions; or the number of a
// program that is made at random, and instructions that take the place of some of its. All get a verdict. What
// the verifier accepts runs to its end without a fault; and the code that is made of it, accepted or not, gives the
// interpreter's answers and touches nothing but its maps and its stack: beside each lie pages that nobody may touch.
#include <cstring>
#include <string>

#include "bpf_code/test_twins.hpp"
#include "event_require.hpp"
#include "verifier/test_programs.hpp"

namespace {

using namespace landtrace;
using bpf::Instruction;
using bpf::code::Code;

constexpr std::size_t kMostInstructions = 200;
constexpr bpf::Context kContexts[] = {bpf::Context::kEntry, bpf::Context::kProbed, bpf::Context::kWords,
                                      bpf::Context::kSample};

Code program_of(const std::uint8_t* data, std::size_t size, bool is_mended) {
  Code code;
  if (is_mended && size >= 4) {
    std::uint32_t seed;
    std::memcpy(&seed, data, sizeof seed);
    data += sizeof seed;
    size -= sizeof seed;
    code = verifier::ProgramWriter(seed).write();
    // Each piece: where, and what stands there then.
    for (; size > sizeof(Instruction); data += 1 + sizeof(Instruction), size -= 1 + sizeof(Instruction))
      std::memcpy(&code[data[0] % code.size()], data + 1, sizeof(Instruction));
    return code;
  }
  code.resize(std::min(size / sizeof(Instruction), kMostInstructions));
  if (!code.empty()) std::memcpy(code.data(), data, code.size() * sizeof(Instruction));
  return code;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const bpf::Context context = kContexts[data[0] & 3];
  const Code code = program_of(data + 1, size - 1, (data[0] & 4) != 0);
  if (code.empty()) return 0;
  const verifier::Verdict verdict = verifier::verdict_of(code, data[0] >> 6, context);
  LT_REQUIRE(verdict.accepted || (!verdict.reason.empty() && verdict.error > 0));
  static bpf_code::Twins twins;
  if (!twins.take(code, verdict.accepted ? verdict.frames : bpf::kMaxFrames, context)) return 0;
  const std::uint32_t begin = bpf::context_begin(context);
  const std::size_t bytes = verdict.accepted ? std::max(verdict.context_end, begin) - begin : data[1];
  std::string event(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) event[i] = static_cast<char>(data[1 + i % (size - 1)]);
  if (const std::string what = twins.difference(event); !what.empty()) {
    std::fprintf(stderr, "%s%s\n", verifier::text_of(code).c_str(), what.c_str());
    LT_REQUIRE(what.empty());
  }
  LT_REQUIRE(!verdict.accepted || (twins.figures().faults == 0 && twins.figures().exceeded == 0));
  return 0;
}
