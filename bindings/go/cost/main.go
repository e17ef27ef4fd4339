// What an event costs: cost [TURNS] prints nanoseconds for an empty turn and for one that emits, of 20 rounds the best:
// what others add, while they have the processor, is not the event's.
package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"landtrace"
)

type pair struct{ A, B uint64 }

var cost = landtrace.New[pair]("cost")

func perTurn(begin time.Time, turns int) float64 {
	return float64(time.Since(begin).Nanoseconds()) / float64(turns)
}

func main() {
	turns := 10_000_000
	if len(os.Args) > 1 {
		turns, _ = strconv.Atoi(os.Args[1])
	}
	const rounds = 20
	turns /= rounds
	empty, emitted := math.MaxFloat64, math.MaxFloat64
	for round := 0; round < rounds; round++ {
		begin := time.Now()
		for i := 0; i < turns; i++ {
		}
		empty = math.Min(empty, perTurn(begin, turns))
		begin = time.Now()
		for i := 0; i < turns; i++ {
			cost.Emit(pair{uint64(i), uint64(i)})
		}
		emitted = math.Min(emitted, perTurn(begin, turns))
	}
	fmt.Printf("%.2f %.2f\n", empty, emitted)
}
