// A producer of a soak on the native API: native_producer PROGRESS SEED. LANDTRACE_WRITER=portable makes it a portable
// one.
#include <cstdlib>
#include <cstring>

#include <landtrace/landtrace.hpp>

#include "load.hpp"

namespace {

using Soak =
    landtrace::Event<"soak", landtrace::Field<"kind", std::uint32_t>, landtrace::Field<"source", std::uint32_t>,
                     landtrace::Field<"sequence", std::uint64_t>, landtrace::Field<"check", std::uint64_t>>;

}  // namespace

int main(int argc, char** argv) {
  using namespace landtrace::soak;
  if (argc != 3) return 2;
  Progress* const progress = map_progress(argv[1], false);
  if (progress == nullptr) return 1;
  const char* const writer = std::getenv("LANDTRACE_WRITER");
  const bool portable = writer != nullptr && std::strcmp(writer, "portable") == 0;
  Load(*progress, portable ? Kind::kPortable : Kind::kNative, static_cast<std::uint32_t>(std::atoi(argv[2])))
      .run([](const Payload& p) { return Soak::emit(p.kind, p.source, p.sequence, p.check); });
}
