// What an event costs: cost [TURNS] prints nanoseconds for an empty turn and for one that emits.
package main

import (
	"fmt"
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
	begin := time.Now()
	for i := 0; i < turns; i++ {
	}
	empty := perTurn(begin, turns)
	begin = time.Now()
	for i := 0; i < turns; i++ {
		cost.Emit(pair{uint64(i), uint64(i)})
	}
	fmt.Printf("%.2f %.2f\n", empty, perTurn(begin, turns))
}
