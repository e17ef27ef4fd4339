// Package landtrace emits trace events of a Go program.
//
//	type ReqDone struct {
//		ID    uint32
//		Route string
//	}
//
//	var reqDone = landtrace.New[ReqDone]("req_done")
//
//	reqDone.Emit(ReqDone{42, "/index"})    // a test and a branch while nobody listens
//	if reqDone.Enabled() { ... }           // where values take work to make
//
// Events go where the files of user_events are: below $TRACEFS, else /sys/kernel/tracing, which are the kernel's or a
// domain's (landtrace record --tracefs, landtrace mount). Go programs make their system calls themselves, so the shim
// does not reach them. Built with -tags landtrace_cgo, the package uses liblandtrace instead, which needs no such files
// and no system call an event.
//
// A struct's fields are declared in their order, by the names that a tag `landtrace:"name"` gives them, else by their own
// in small letters with underscores (RouteID: route_id):
//
//	uint8 ... uint64, int8 ... int64   u8 ... s64
//	bool                               u8
//	float32, float64                   struct float NAME 4, struct double NAME 8
//	string                             __rel_loc char[], with a NUL
//	[]byte                             __rel_loc u8[]
//	[N]byte                            char[N]: text that ends at the first NUL
//
// Everything here is for any number of goroutines at once.
package landtrace

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode"
	"unsafe"
)

// MaxPayload is the largest payload in bytes. Events that are larger are not emitted.
const MaxPayload = 65536

// Event is an event whose fields are those of the struct T.
type Event[T any] struct {
	target
	layout
}

// New declares an event; it stays as long as the program. It panics when T is no struct of the types above. That there
// is nobody to send to is no error.
func New[T any](name string) *Event[T] {
	e := &Event[T]{}
	e.layout = layoutOf(reflect.TypeOf((*T)(nil)).Elem())
	e.register(strings.TrimSuffix(name+" "+e.declaration, " "))
	return e
}

// Enabled says whether somebody listens.
func (e *Event[T]) Enabled() bool { return e.enabled() }

// Emit says whether somebody listened.
func (e *Event[T]) Emit(values T) bool { return e.enabled() && e.emit(values) }

// Err is why the event could not be registered; nil: it is, or there is nobody to register it with. Through the library
// it is tried again, as what is in its way (another program's event of this name) may go.
func (e *Event[T]) Err() error { return e.err }

//go:noinline
func (e *Event[T]) emit(values T) bool {
	buffer := buffers.Get().(*[]byte)
	payload := e.pack((*buffer)[:headroom], hidden(unsafe.Pointer(&values)))
	written := len(payload)-headroom <= MaxPayload && e.write(payload)
	*buffer = payload
	buffers.Put(buffer)
	return written
}

// So that the values stay on the stack: nothing here keeps them.
func hidden(p unsafe.Pointer) unsafe.Pointer {
	bits := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&bits))
}

var buffers = sync.Pool{New: func() any {
	buffer := make([]byte, headroom, 256)
	return &buffer
}}

type fieldKind int

const (
	kindFixed fieldKind = iota
	kindText
	kindBytes
)

type field struct {
	kind   fieldKind
	offset uintptr
	size   uintptr
}

type layout struct {
	declaration string
	fields      []field
	fixed       int
}

func layoutOf(t reflect.Type) layout {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("landtrace: %v is no struct", t))
	}
	var l layout
	var texts []string
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name := f.Tag.Get("landtrace")
		if name == "" {
			name = underscored(f.Name)
		}
		text, kind := declare(f.Type, name)
		size := f.Type.Size()
		if kind != kindFixed {
			l.fixed += 4
		} else {
			l.fixed += int(size)
		}
		texts = append(texts, text)
		l.fields = append(l.fields, field{kind, f.Offset, size})
	}
	l.declaration = strings.Join(texts, ";")
	return l
}

func declare(t reflect.Type, name string) (string, fieldKind) {
	switch t.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("u%d %s", t.Bits(), name), kindFixed
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("s%d %s", t.Bits(), name), kindFixed
	case reflect.Bool:
		return "u8 " + name, kindFixed
	case reflect.Float32:
		return fmt.Sprintf("struct float %s 4", name), kindFixed
	case reflect.Float64:
		return fmt.Sprintf("struct double %s 8", name), kindFixed
	case reflect.String:
		return "__rel_loc char[] " + name, kindText
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "__rel_loc u8[] " + name, kindBytes
		}
	case reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return fmt.Sprintf("char[%d] %s", t.Len(), name), kindFixed
		}
	}
	panic(fmt.Sprintf("landtrace: no type of a field: %v %s", t, name))
}

// RouteID is route_id.
func underscored(name string) string {
	var out strings.Builder
	letters := []rune(name)
	for i, letter := range letters {
		if unicode.IsUpper(letter) && i > 0 &&
			(unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(letter))
	}
	return out.String()
}

// Appends the payload to `out`: the fixed part, and texts and bytes behind it, whose places count from behind their
// location.
func (l *layout) pack(out []byte, values unsafe.Pointer) []byte {
	begin := len(out)
	size := l.fixed
	locate := func(length int) {
		place := uint32(length)<<16 | uint32(size-(len(out)-begin)-4)&0xffff
		out = append(out, 0, 0, 0, 0)
		*(*uint32)(unsafe.Pointer(&out[len(out)-4])) = place
		size += length
	}
	for _, f := range l.fields {
		at := unsafe.Add(values, f.offset)
		switch f.kind {
		case kindFixed:
			out = append(out, unsafe.Slice((*byte)(at), f.size)...)
		case kindText:
			locate(len(*(*string)(at)) + 1)
		case kindBytes:
			locate(len(*(*[]byte)(at)))
		}
	}
	if size == l.fixed {
		return out
	}
	for _, f := range l.fields {
		at := unsafe.Add(values, f.offset)
		switch f.kind {
		case kindText:
			out = append(append(out, *(*string)(at)...), 0)
		case kindBytes:
			out = append(out, *(*[]byte)(at)...)
		}
	}
	return out
}
