// Emits events of every kind of field: example [COUNT], and says how many had a listener.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"landtrace"
)

type reqDone struct {
	ID    uint32
	Route string
}

type sample struct {
	Small    uint8
	Negative int8
	Medium   uint16
	Large    uint64
	Low      int64
	IsSet    bool
	Part     float32
	Whole    float64
	Name     [8]byte
	Text     string
	Bytes    []byte
	Final    int32 `landtrace:"type"`
}

var (
	done   = landtrace.New[reqDone]("req_done")
	all    = landtrace.New[sample]("sample")
	ticked = landtrace.New[struct{}]("tick")
)

func main() {
	count := 3
	if len(os.Args) > 1 {
		count, _ = strconv.Atoi(os.Args[1])
	}
	for _, err := range []error{done.Err(), all.Err(), ticked.Err()} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	heard := 0
	for i := 0; i < count; i++ {
		if done.Emit(reqDone{uint32(i), "/item/" + strconv.Itoa(i)}) {
			heard++
		}
	}
	all.Emit(sample{200, -3, 65535, 1 << 40, -1 << 63, true, 0.5, -2.25, [8]byte{'c', 'u', 't', ' ', 'a', 't', ' ', 'e'},
		"text", []byte{1, 0xfe}, -5})
	all.Emit(sample{})
	ticked.Emit(struct{}{})
	if done.Emit(reqDone{0, strings.Repeat("x", landtrace.MaxPayload)}) {
		fmt.Fprintln(os.Stderr, "what is too large was emitted")
		os.Exit(1)
	}
	fmt.Printf("%d of %d had a listener\n", heard, count)
}
