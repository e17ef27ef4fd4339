#include "agent/stubs.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace landtrace::agent {

#if defined(__x86_64__)

extern "C" {
extern const char lt_agent_entry[], lt_agent_entry_and_return[], lt_agent_middle[];
}

// The numbers in the assembler.
static_assert(kSlots == 16384 && sizeof(Slot) == 128 && kReturnStubSize == 16 &&
              offsetof(Slot, cfa_distance) == 0x73 - 11 && offsetof(Slot, return_address) == 0x13 - 11);
static_assert(kR15 == 0 && kR14 == 1 && kR13 == 2 && kR12 == 3 && kRbp == 4 && kRbx == 5 && kR11 == 6 && kR10 == 7 &&
              kR9 == 8 && kR8 == 9 && kRax == 10 && kRcx == 11 && kRdx == 12 && kRsi == 13 && kRdi == 14 &&
              kRegisters == 18);

// Assembly reads by its columns.
// clang-format off

// The registers below rsp, as recipe.hpp has them, behind three words of which only the flags are filled in here.
#define LT_PUSH(what) what "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define LT_SAVE                              \
  LT_PUSH("leaq -8(%rsp), %rsp")             \
  LT_PUSH("pushfq")                          \
  LT_PUSH("leaq -8(%rsp), %rsp")             \
  LT_PUSH("pushq %rdi")                       \
  LT_PUSH("pushq %rsi")                       \
  LT_PUSH("pushq %rdx")                       \
  LT_PUSH("pushq %rcx")                       \
  LT_PUSH("pushq %rax")                       \
  LT_PUSH("pushq %r8")                        \
  LT_PUSH("pushq %r9")                        \
  LT_PUSH("pushq %r10")                       \
  LT_PUSH("pushq %r11")                       \
  LT_PUSH("pushq %rbx")                       \
  LT_PUSH("pushq %rbp")                       \
  LT_PUSH("pushq %r12")                       \
  LT_PUSH("pushq %r13")                       \
  LT_PUSH("pushq %r14")                       \
  LT_PUSH("pushq %r15")                       \
  "movq %rsp, %rbp\n\t"

// What a function may have changed; it has kept rbx and r12 to r15.
#define LT_RESTORE                           \
  "movq 32(%rsp), %rbp\n\t"                  \
  "movq 48(%rsp), %r11\n\t"                  \
  "movq 56(%rsp), %r10\n\t"                  \
  "movq 64(%rsp), %r9\n\t"                   \
  "movq 72(%rsp), %r8\n\t"                   \
  "movq 80(%rsp), %rax\n\t"                  \
  "movq 88(%rsp), %rcx\n\t"                  \
  "movq 96(%rsp), %rdx\n\t"                  \
  "movq 104(%rsp), %rsi\n\t"                 \
  "movq 112(%rsp), %rdi\n\t"

#define LT_FUNCTION(name)                    \
  ".p2align 6\n\t"                           \
  ".globl " name "\n\t"                      \
  ".hidden " name "\n\t"                     \
  ".type " name ", @function\n"              \
  name ":\n\t"                               \
  ".cfi_startproc\n\t"

// Whoever unwinds sees the function that was just entered as called by its caller: the word above the stub's return
// address is its own.
#define LT_SAVED_AT_ENTRY                    \
  ".cfi_def_cfa %rbp, 160\n\t"               \
  ".cfi_offset %rbp, -128\n\t"
#define LT_RESTORED_AT_ENTRY                 \
  ".cfi_def_cfa %rsp, 160\n\t"               \
  ".cfi_restore %rbp\n\t"

// From an address in a return stub on the expression's stack, its slot's address less 11: and -16; dup; plus 7; deref
// 4 bytes: where the slot is, from the end of the call at 11; plus. Then, by 0x23, what is wanted of the slot is
// added.
#define LT_SLOT_OF_STUB "0x09, 0xf0, 0x1a, 0x12, 0x23, 0x07, 0x94, 0x04, 0x22"

asm(
  ".text\n\t"

  // (%rsp) is where to go on in the entry stub. The red zone and the flags are dead.
  LT_FUNCTION("lt_agent_entry")
  ".cfi_def_cfa_offset 16\n\t"
  LT_SAVE
  LT_SAVED_AT_ENTRY
  "movq 144(%rbp), %rdi\n\t"
  "movq %rbp, %rsi\n\t"
  "andq $-16, %rsp\n\t"
  "call lt_agent_enter\n\t"
  "movq %rbp, %rsp\n\t"
  LT_RESTORE
  LT_RESTORED_AT_ENTRY
  "leaq 144(%rsp), %rsp\n\t"
  ".cfi_def_cfa_offset 16\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  // The word below the one with which it returns is where the stub goes on: at the copy or a return stub.
  LT_FUNCTION("lt_agent_entry_and_return")
  ".cfi_def_cfa_offset 16\n\t"
  LT_SAVE
  LT_SAVED_AT_ENTRY
  "movq 144(%rbp), %rdi\n\t"
  "movq %rbp, %rsi\n\t"
  "andq $-16, %rsp\n\t"
  "call lt_agent_enter_and_return\n\t"
  "movq %rbp, %rsp\n\t"
  "movq %rax, 136(%rsp)\n\t"
  LT_RESTORE
  LT_RESTORED_AT_ENTRY
  "leaq 144(%rsp), %rsp\n\t"
  ".cfi_def_cfa_offset 16\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  // In the middle of a function, whose frame nobody knows here.
  LT_FUNCTION("lt_agent_middle")
  ".cfi_undefined %rip\n\t"
  LT_SAVE
  ".cfi_def_cfa_register %rbp\n\t"
  "movq 144(%rbp), %rdi\n\t"
  "movq %rbp, %rsi\n\t"
  "andq $-16, %rsp\n\t"
  "cld\n\t"
  "call lt_agent_enter_middle\n\t"
  "movq %rbp, %rsp\n\t"
  LT_RESTORE
  "leaq 128(%rsp), %rsp\n\t"
  "popfq\n\t"
  "leaq 8(%rsp), %rsp\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  // A probed function has returned to its stub: the word below rsp is still the stub's address. leave() finds the
  // slot.
  LT_FUNCTION("lt_agent_return")
  ".cfi_def_cfa %rsp, 4\n\t"
  ".cfi_escape 0x16, 7, 2, 0x34, 0x1c\n\t"
  ".cfi_escape 0x10, 16, 14, 0x77, 0x78, 0x06, " LT_SLOT_OF_STUB ", 0x23, 0x13\n\t"
  "leaq -8(%rsp), %rsp\n\t"
  // From here on the frame is as any other's, but for where the return address is.
  ".cfi_restore %rsp\n\t"
  ".cfi_def_cfa %rsp, 8\n\t"
  ".cfi_escape 0x10, 16, 14, 0x38, 0x1c, 0x06, " LT_SLOT_OF_STUB ", 0x23, 0x13\n\t"
  LT_SAVE
  ".cfi_def_cfa %rbp, 152\n\t"
  ".cfi_offset %rbp, -120\n\t"
  "movq 144(%rbp), %rdi\n\t"
  "movq %rbp, %rsi\n\t"
  "andq $-16, %rsp\n\t"
  "call lt_agent_leave\n\t"
  "movq %rbp, %rsp\n\t"
  "movq 8(%rax), %rcx\n\t"
  "movq %rcx, 144(%rbp)\n\t"
  ".cfi_offset %rip, -8\n\t"
  // Only now, when nobody needs the slot to find the caller, it is free.
  "movq $0, 16(%rax)\n\t"
  LT_RESTORE
  ".cfi_def_cfa %rsp, 152\n\t"
  ".cfi_restore %rbp\n\t"
  "leaq 144(%rsp), %rsp\n\t"
  ".cfi_def_cfa_offset 8\n\t"
  "ret\n\t"
  ".cfi_endproc\n\t"

  // The frame of a return stub has no room on the stack of its own. Its CFA must still differ from its callee's, by
  // which libgcc tells frames apart: it lies between two words, where the slot says. So does where the return address
  // is.
  ".p2align 6\n\t"
  ".globl lt_agent_return_stubs\n\t"
  ".hidden lt_agent_return_stubs\n\t"
  ".globl lt_agent_return_stubs_end\n\t"
  ".hidden lt_agent_return_stubs_end\n\t"
  ".type lt_agent_return_stubs, @function\n"
  "lt_agent_return_stubs:\n\t"
  ".cfi_startproc\n\t"
  ".cfi_escape 0x0f, 17, 0x80, 0x00, " LT_SLOT_OF_STUB ", 0x23, 0x73, 0x06, 0x77, 0x00, 0x22\n\t"
  ".cfi_escape 0x16, 7, 2, 0x77, 0x00\n\t"
  ".cfi_escape 0x10, 16, 13, 0x80, 0x00, " LT_SLOT_OF_STUB ", 0x23, 0x13\n\t"
  ".set lt_slot, 0\n\t"
  ".rept 16384\n\t"
  "leaq 8(%rsp), %rsp\n\t"
  "call *lt_agent_slots+lt_slot(%rip)\n\t"
  ".byte 0xe9\n\t"
  ".long lt_agent_return - . - 4\n\t"
  ".set lt_slot, lt_slot + 128\n\t"
  ".endr\n"
  "lt_agent_return_stubs_end:\n\t"
  ".cfi_endproc\n\t"
  ".size lt_agent_return_stubs, . - lt_agent_return_stubs\n");
// clang-format on

namespace {

class Writer {
 public:
  Writer(Stub& stub, std::uint64_t at) : stub_(stub), at_(at) { stub_.size = 0; }

  void bytes(const void* data, std::size_t size) {
    std::memcpy(stub_.bytes + stub_.size, data, size);
    stub_.size += size;
  }
  template <typename... Byte>
  void code(Byte... byte) {
    const std::uint8_t all[] = {static_cast<std::uint8_t>(byte)...};
    bytes(all, sizeof all);
  }
  template <typename T>
  void value(T number) {
    bytes(&number, sizeof number);
  }
  [[nodiscard]] std::uint64_t here() const { return at_ + stub_.size; }

 private:
  Stub& stub_;
  std::uint64_t at_;
};

bool fits(std::int64_t distance) { return distance == static_cast<std::int32_t>(distance); }

// Makes the copy that begins at `copy` good for its address.
bool fix(const Recipe& recipe, const Fixup& fixup, std::uint64_t place, std::uint64_t copy, std::uint8_t* bytes) {
  const std::uint64_t target = place + static_cast<std::uint64_t>(std::int64_t{fixup.target});
  const std::size_t size = fixup.kind == FixupKind::kAbsolute64 ? 8 : 4;
  if (fixup.at + size > recipe.copy_size || fixup.next > recipe.copy_size) return false;
  std::uint64_t value = target;
  if (fixup.kind == FixupKind::kRelative32) {
    const auto distance = static_cast<std::int64_t>(target - (copy + fixup.next));
    if (!fits(distance)) return false;
    value = static_cast<std::uint64_t>(distance);
  } else if (fixup.kind == FixupKind::kHigh32) {
    value >>= 32;
  }
  std::memcpy(bytes + fixup.at, &value, size);
  return true;
}

const char* common_code(Form form) {
  if (form == Form::kMiddle) return lt_agent_middle;
  return form == Form::kReturn ? lt_agent_entry_and_return : lt_agent_entry;
}

// What hands the registers on to the site whose words begin at `words`.
void put_hit(Writer& out, Form form, std::uint64_t words) {
  if (form == Form::kMiddle) out.code(0x48, 0x8d, 0x64, 0x24, 0x80);  // lea -128(%rsp), %rsp
  const std::uint64_t common = words + sizeof(const Site*);
  out.code(0xff, 0x15);  // call *common(%rip)
  out.value(static_cast<std::int32_t>(static_cast<std::int64_t>(common - (out.here() + 4))));
  if (form == Form::kMiddle) {
    out.code(0x48, 0x8d, 0xa4, 0x24);  // lea 128(%rsp), %rsp
    out.value(std::int32_t{128});
  }
  if (form == Form::kReturn) out.code(0xff, 0x64, 0x24, 0xf0);  // jmp *-16(%rsp)
}

// Where in the copy something is handed on, and where in the stub what it needs for it.
struct Point {
  std::uint32_t copy_at;
  Form form;
  std::uint64_t words;
};

}  // namespace

bool assemble(const Recipe& recipe, const Site* site, Form form, std::uint64_t at, Stub& stub,
              std::span<const InnerHit> inner) {
  if (recipe.copy_size > kMaxCopy || recipe.fixup_count > kMaxFixups || inner.size() > kMaxInner) return false;
  Writer out(stub, at);
  std::vector<Point> points;
  for (const InnerHit& hit : inner) {
    if (hit.distance >= kMaxDisplaced || recipe.copy_at[hit.distance] == 0) return false;
    points.push_back({recipe.copy_at[hit.distance], Form::kMiddle, out.here()});
    out.value(hit.site);
    out.value(common_code(Form::kMiddle));
  }
  // Last, as its words are to be in front of the code.
  const Point own{recipe.hit_at(), form, out.here()};
  const auto behind = [&own](const Point& point) { return point.copy_at > own.copy_at; };
  points.insert(std::find_if(points.begin(), points.end(), behind), own);
  out.value(site);
  out.value(common_code(form));
  stub.code = stub.size;
  std::size_t added = 0;  // of what stands between the parts of the copy, up to there
  std::uint32_t done = 0;
  for (std::size_t i = 0; i <= points.size(); ++i) {
    const std::uint32_t end = i < points.size() ? points[i].copy_at : recipe.copy_size;
    if (end > recipe.copy_size || end < done) return false;
    // As if the whole copy began so that this part of it is where it is.
    const std::size_t copy = stub.code + added;
    out.bytes(recipe.copy + done, end - done);
    for (std::size_t k = 0; k < recipe.fixup_count; ++k) {
      const Fixup& fixup = recipe.fixups[k];
      if (fixup.at < done || fixup.at >= end) continue;
      if (!fix(recipe, fixup, site->address, at + copy, stub.bytes + copy)) return false;
    }
    for (std::size_t distance = 1; distance < kJumpSize; ++distance) {
      const std::uint32_t moved = recipe.copy_at[distance];
      if (moved != 0 && moved >= done && moved < end) stub.moved[distance] = static_cast<std::uint16_t>(copy + moved);
    }
    done = end;
    if (i == points.size()) break;
    const std::size_t before = stub.size;
    put_hit(out, points[i].form, points[i].words);
    added += stub.size - before;
  }
  if ((recipe.flags & kNeverComesBack) != 0) return true;
  out.code(0xe9);
  const auto back = static_cast<std::int64_t>(site->address + recipe.displaced - (out.here() + 4));
  out.value(static_cast<std::int32_t>(back));
  return fits(back);
}

#else

bool assemble(const Recipe&, const Site*, Form, std::uint64_t, Stub&, std::span<const InnerHit>) { return false; }

#endif

}  // namespace landtrace::agent
