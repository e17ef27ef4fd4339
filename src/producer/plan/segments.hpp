// The two kinds of shared memory of a domain.
//
//     control segment, one a domain                    data segment, one a user of the domain
//     written by the owner alone, mapped               written by that user's producers, who are not trusted;
//     read-only by everybody else                      mapped by nobody else but the owner and consumers
//
//     +--------------------------------+               +----------------------------------+
//     | ControlSegment                 |               | DataSegment                      |
//     |   clock, sizes, owner_alive    |         .---> |   cells[]    soft state          |
//     |   events[]  event -> plan ---------.     |     |   threads[]  who is inside       |
//     |   files[]   file -> table -------. |     |     |   tasks[]    names of threads    |
//     +--------------------------------+ | |     |     |   objects    what stacks lie in  |
//     | heap                           | | |     |     +----------------------------------+
//     |   file tables  <-----------------' |     |     | arena, laid out alike for each   |
//     |   plans  <-------------------------'     |     |   ring sets (ring/layout.hpp):   |
//     |     records -----------------------------|---> |     a ring a CPU, and some more  |
//     |     gates: threads, filters    |         |     |   tables of histograms           |
//     |     triggers ----------------------------+---> |     (hist/layout.hpp)            |
//     |   texts and checks of events   |               +----------------------------------+
//     |   consumer positions           |
//     +--------------------------------+
//
//   control_segment.hpp   ControlSegment, its tables of events and files
//   steps.hpp             plans: steps, triggers, lists of threads
//   data_segment.hpp      DataSegment: cells, slots of threads, their names
//
// All that refers to something else in shared memory is an offset from the beginning of one of the two segments, never
// an address: each process maps them where there is room. A process maps the control segment and its own user's data
// segment; a plan's offsets are good for each user, since the arena is laid out the same in all their segments.
//
// The owner publishes by one release store of an offset (publish(), segments/control_memory.hpp), which pairs with the
// acquire load where the offset is read, and frees what it replaced after a grace period (section.hpp). What stands in
// the heap does not change in place, but for consumer positions and the growth of file tables. Nothing that a producer
// reads in its data segment is used as an offset without a bound.
#pragma once

#include "plan/control_segment.hpp"
#include "plan/data_segment.hpp"
#include "plan/steps.hpp"
