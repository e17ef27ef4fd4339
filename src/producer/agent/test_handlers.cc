// Compiled as the real ones: without vector registers.
#include "agent/test_places.hpp"

namespace landtrace::agent {

TestHits test_hits[kTestNumbers];

namespace {

void hit(const Site* site, Registers* registers, EntryData* data) {
  TestHits& hits = test_hits[site->number % kTestNumbers];
  __atomic_fetch_add(&hits.entries, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < kRegisters; ++i) hits.entry.value[i] = registers->value[i];
  if (data != nullptr) data->value[0] = registers->value[kRdi];
  if (hits.within != nullptr) hits.within();
}

void returned(const Site* site, Registers* registers, EntryData* data) {
  TestHits& hits = test_hits[site->number % kTestNumbers];
  __atomic_fetch_add(&hits.returns, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < kRegisters; ++i) hits.leave.value[i] = registers->value[i];
  hits.entry_data = data->value[0];
}

void missed(const Site* site, std::uint32_t wants) {
  TestHits& hits = test_hits[site->number % kTestNumbers];
  if ((wants & kWantsEntry) != 0) __atomic_fetch_add(&hits.missed_entries, 1, __ATOMIC_RELAXED);
  if ((wants & kWantsReturn) != 0) __atomic_fetch_add(&hits.missed_returns, 1, __ATOMIC_RELAXED);
}

}  // namespace

void forget_test_hits() {
  for (TestHits& hits : test_hits) {
    hits.entries = 0;
    hits.returns = 0;
    hits.missed_entries = 0;
    hits.missed_returns = 0;
    hits.within = nullptr;
  }
}

void use_test_handlers() {
  forget_test_hits();
  set_handlers({hit, returned, missed});
}

}  // namespace landtrace::agent
