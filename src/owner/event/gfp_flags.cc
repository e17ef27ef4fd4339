#include "event/gfp_flags.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace landtrace::event {
namespace {

struct Flag {
  std::uint64_t mask;
  std::string_view name;
};
// Names that stand for several bits come first.
constexpr Flag kFlags[] = {
    {0x1c24ca, "GFP_TRANSHUGE"},
    {0x1c20ca, "GFP_TRANSHUGE_LIGHT"},
    {0x100cca, "GFP_HIGHUSER_MOVABLE"},
    {0x100cc2, "GFP_HIGHUSER"},
    {0x100cc0, "GFP_USER"},
    {0x400cc0, "GFP_KERNEL_ACCOUNT"},
    {0xcc0, "GFP_KERNEL"},
    {0xc40, "GFP_NOFS"},
    {0x820, "GFP_ATOMIC"},
    {0xc00, "GFP_NOIO"},
    {0x2800, "GFP_NOWAIT"},
    {0x1, "GFP_DMA"},
    {0x4, "GFP_DMA32"},
    {0xc00, "__GFP_RECLAIM"},
    {0x1, "__GFP_DMA"},
    {0x2, "__GFP_HIGHMEM"},
    {0x4, "__GFP_DMA32"},
    {0x8, "__GFP_MOVABLE"},
    {0x10, "__GFP_RECLAIMABLE"},
    {0x20, "__GFP_HIGH"},
    {0x40, "__GFP_IO"},
    {0x80, "__GFP_FS"},
    {0x100, "__GFP_ZERO"},
    {0x400, "__GFP_DIRECT_RECLAIM"},
    {0x800, "__GFP_KSWAPD_RECLAIM"},
    {0x1000, "__GFP_WRITE"},
    {0x2000, "__GFP_NOWARN"},
    {0x4000, "__GFP_RETRY_MAYFAIL"},
    {0x8000, "__GFP_NOFAIL"},
    {0x10000, "__GFP_NORETRY"},
    {0x20000, "__GFP_MEMALLOC"},
    {0x40000, "__GFP_COMP"},
    {0x80000, "__GFP_NOMEMALLOC"},
    {0x100000, "__GFP_HARDWALL"},
    {0x200000, "__GFP_THISNODE"},
    {0x400000, "__GFP_ACCOUNT"},
    {0x800000, "__GFP_ZEROTAGS"},
};

}  // namespace

std::string gfp_flags_text(std::uint64_t flags) {
  std::string text;
  for (const auto& [mask, name] : kFlags) {
    if ((flags & mask) != mask) continue;
    text.append(text.empty() ? "" : "|").append(name);
    flags &= ~mask;
  }
  if (flags != 0) fmt::format_to(std::back_inserter(text), "{}{:#x}", text.empty() ? "" : "|", flags);
  return text;
}

}  // namespace landtrace::event
