// The second set, in Go: MODE n MILLISECONDS, with the same total work whatever n is.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var turnsPerUs float64

//go:noinline
func compute(us float64) uint64 {
	x := uint64(1)
	for turn := int64(us * turnsPerUs); turn > 0; turn-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
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

func each(n int, body func(id int)) {
	var all sync.WaitGroup
	for id := range n {
		all.Add(1)
		go func() {
			defer all.Done()
			body(id)
		}()
	}
	all.Wait()
}

// A map of sessions that is written more often than read.
func sessions(n int, us float64) {
	var guard sync.RWMutex
	users := map[int]uint64{}
	each(n, func(id int) {
		for i := 0; i < int(us/400)/n; i++ {
			compute(150)
			guard.Lock()
			users[i] += compute(250)
			guard.Unlock()
		}
	})
}

// Workers send results, and one goroutine puts them together for two thirds of the time.
func collected(n int, us float64) {
	results := make(chan int)
	go func() {
		each(n, func(id int) {
			for i := 0; i < int(us/600)/n; i++ {
				compute(200)
				results <- i
			}
		})
		close(results)
	}()
	for range results {
		compute(400)
	}
}

func primes(n int, us float64) {
	each(n, func(id int) {
		for i := 0; i < 100; i++ {
			compute(us / float64(n) / 100)
		}
	})
}

func counter(n int, us float64) {
	var total atomic.Int64
	each(n, func(id int) {
		for i := 0; i < int(us*150)/n; i++ {
			total.Add(1)
		}
	})
}

func main() {
	turnsPerUs, _ = strconv.ParseFloat(os.Getenv("PLANTED_TURNS"), 64)
	if turnsPerUs == 0 {
		turnsPerUs = calibrated()
	}
	if len(os.Args) == 2 && os.Args[1] == "calibrate" {
		fmt.Printf("%.1f\n", turnsPerUs)
		return
	}
	n, _ := strconv.Atoi(os.Args[2])
	ms, _ := strconv.ParseFloat(os.Args[3], 64)
	modes := map[string]func(int, float64){
		"sessions": sessions, "collected": collected, "primes": primes, "counter": counter,
	}
	modes[os.Args[1]](n, ms*1e3)
}
