//go:build linux && !landtrace_cgo

package landtrace

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// A write begins with the event's index.
const headroom = 4

const registerRequest = 0xc0082a00 // DIAG_IOCSREG

// struct user_reg, which is packed.
type registration struct {
	size       uint32
	enableBit  uint8
	enableSize uint8
	flags      uint16
	enableAddr [2]uint32
	nameArgs   [2]uint32
	writeIndex uint32
}

type target struct {
	word  *uint32 // outside of what Go's collector manages: others write it
	index uint32
	err   error
}

var never uint32

var files struct {
	sync.Mutex
	data  int // user_events_data, -1: there is none
	tried bool
	words []byte // not given away yet
}

func halves(address uintptr) [2]uint32 { return *(*[2]uint32)(unsafe.Pointer(&address)) }

func openData() {
	files.tried = true
	folder := os.Getenv("TRACEFS")
	if folder == "" {
		folder = "/sys/kernel/tracing"
	}
	var err error
	files.data, err = syscall.Open(folder+"/user_events_data", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		files.data = -1
	}
}

func newWord() (*uint32, error) {
	if len(files.words) == 0 {
		page, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS)
		if err != nil {
			return nil, err
		}
		files.words = page
	}
	word := (*uint32)(unsafe.Pointer(&files.words[0]))
	files.words = files.words[4:]
	return word, nil
}

func (t *target) register(declaration string) {
	files.Lock()
	defer files.Unlock()
	if t.word = &never; !files.tried {
		openData()
	}
	if files.data < 0 {
		return
	}
	word, err := newWord()
	if err != nil {
		t.err = err
		return
	}
	text := append([]byte(declaration), 0)
	request := registration{enableSize: 4, enableAddr: halves(uintptr(unsafe.Pointer(word))),
		nameArgs: halves(uintptr(unsafe.Pointer(&text[0])))}
	request.size = uint32(unsafe.Sizeof(request))
	_, _, code := syscall.Syscall(syscall.SYS_IOCTL, uintptr(files.data), registerRequest,
		uintptr(unsafe.Pointer(&request)))
	runtime.KeepAlive(text)
	if code != 0 {
		t.err = fmt.Errorf("%s: %w", declaration, code)
		return
	}
	t.word, t.index = word, request.writeIndex
}

func (t *target) enabled() bool { return atomic.LoadUint32(t.word) != 0 }

func (t *target) write(payload []byte) bool {
	*(*uint32)(unsafe.Pointer(&payload[0])) = t.index
	written, err := syscall.Write(files.data, payload)
	return err == nil && written == len(payload)
}
