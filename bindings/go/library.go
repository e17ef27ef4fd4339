//go:build linux && landtrace_cgo

package landtrace

// #cgo pkg-config: landtrace
// #define LANDTRACE_NO_MACROS
// #include <landtrace/landtrace.h>
// #include <stdlib.h>
//
// static struct landtrace_event* make_event(void) {
//   const struct landtrace_event begin = LANDTRACE_EVENT_INIT;
//   struct landtrace_event* event = malloc(sizeof *event);
//   if (event) *event = begin;
//   return event;
// }
// static int emit(const struct landtrace_event* event, void* payload, size_t size) {
//   const struct iovec vector = {payload, size};
//   return landtrace_emit_enabled(event, &vector, 1, size);
// }
import "C"

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const headroom = 0

// What is the library's lies in C's memory.
type target struct {
	event *C.struct_landtrace_event
	err   error
}

func (t *target) register(declaration string) {
	t.event = C.make_event()
	if t.event == nil {
		panic("landtrace: out of memory")
	}
	if code := C.landtrace_register(t.event, C.CString(declaration), C.LANDTRACE_RETRY); code != 0 {
		t.err = fmt.Errorf("%s: %w", declaration, syscall.Errno(-code))
	}
}

func (t *target) enabled() bool {
	word := atomic.LoadPointer((*unsafe.Pointer)(unsafe.Pointer(&t.event.enable)))
	return atomic.LoadUint32((*uint32)(word)) != 0
}

func (t *target) write(payload []byte) bool {
	var at unsafe.Pointer
	if len(payload) > 0 {
		at = unsafe.Pointer(&payload[0])
	}
	return C.emit(t.event, at, C.size_t(len(payload))) == 0
}
