// Planted programs in Go: MODE n MILLISECONDS, with the same total work whatever n is.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var (
	turnsPerUs float64
	sink       atomic.Uint64
	left       atomic.Int64
	guard      sync.Mutex
)

func compute(us float64) {
	x := uint64(1)
	for turn := int64(us * turnsPerUs); turn > 0; turn-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink.Store(x)
}

func about(us float64, seed *uint64) {
	*seed = *seed*6364136223846793005 + 1442695040888963407
	compute(us * 2 * float64(*seed>>40) / float64(1<<24))
}

func calibrated() float64 {
	turnsPerUs = 200
	best := 1e18
	for i := 0; i < 40; i++ {
		began := time.Now()
		compute(500)
		best = min(best, float64(time.Since(began).Nanoseconds())/1e3)
	}
	return turnsPerUs * 500 / best
}

// Those who hold the token pass it round through unbuffered channels, and do 75 % of the work with it.
func ring(id, n int, passed []chan bool, seed *uint64, rounds int64) {
	for i := int64(0); i < rounds; i++ {
		about(25, seed)
		if n > 1 {
			<-passed[id]
		}
		about(75, seed)
		if n > 1 && !(id == n-1 && i == rounds-1) {
			passed[(id+1)%n] <- true
		}
	}
}

func work(mode string, id, n int, passed []chan bool, total float64) {
	seed := uint64(77 + 1000003*id)
	switch mode {
	case "guard":
		for left.Add(-1) >= 0 {
			about(34, &seed)
			guard.Lock()
			about(51, &seed)
			guard.Unlock()
		}
	case "ring":
		ring(id, n, passed, &seed, int64(total/100)/int64(n))
	default:
		for left.Add(-1) >= 0 {
			compute(85)
		}
	}
}

func main() {
	if os.Args[1] == "calibrate" {
		fmt.Println(calibrated())
		return
	}
	var err error
	if turnsPerUs, err = strconv.ParseFloat(os.Getenv("PLANTED_TURNS"), 64); err != nil {
		turnsPerUs = calibrated()
	}
	n, _ := strconv.Atoi(os.Args[2])
	ms, _ := strconv.ParseFloat(os.Args[3], 64)
	left.Store(int64(ms * 1e3 / 85))
	passed := make([]chan bool, n)
	for i := range passed {
		passed[i] = make(chan bool)
	}
	var team sync.WaitGroup
	for id := 0; id < n; id++ {
		team.Add(1)
		go func() {
			defer team.Done()
			work(os.Args[1], id, n, passed, ms*1e3)
		}()
	}
	if os.Args[1] == "ring" && n > 1 {
		passed[0] <- true
	}
	team.Wait()
}
