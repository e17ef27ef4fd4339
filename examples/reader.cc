// Prints events: of a recording, or of the running domain as they happen, until ^C.
//
//     example_reader [FILE]
#include <landtrace/reader.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // each event at once, also into a pipe
  landtrace::Reader reader;
  if ((argc > 1 ? reader.open(argv[1]) : reader.listen()) == 0) {
    for (const landtrace::Record& record : reader) {
      std::printf("%llu %s[%u] %s", static_cast<unsigned long long>(record.time_ns()), record.comm(), record.tid(),
                  record.name());
      for (const landtrace::FieldValue& field : record.fields()) {
        std::printf(" %s=%s", field.name(), field.to_string().c_str());
      }
      std::puts("");
    }
  }
  if (*reader.failure() != '\0') std::fprintf(stderr, "%s\n", reader.failure());
  return *reader.failure() == '\0' ? 0 : 1;
}
