// journal FILE: a recording's events into the journal.
#include <landtrace/bridges/journal.hpp>

int main(int argc, char** argv) {
  landtrace::Reader reader;
  if (argc != 2 || reader.open(argv[1]) != 0) return 2;
  for (const landtrace::Record& record : reader) {
    if (landtrace::bridges::send_to_journal(record) != 0) return 1;
  }
  return reader.code();
}
