// A third set of planted programs in Go: MODE n MILLISECONDS, with the same total work whatever n is.
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

// Runs the body in n goroutines, each with its own seed.
func team(n int, body func(id int, seed *uint64)) {
	var all sync.WaitGroup
	for id := 0; id < n; id++ {
		all.Add(1)
		go func() {
			defer all.Done()
			seed := uint64(77 + 1000003*id)
			body(id, &seed)
		}()
	}
	all.Wait()
}

// A goroutine for each page, at most n at a time.
func pages(n int, us float64) {
	var all sync.WaitGroup
	slots := make(chan struct{}, n)
	for page := 0; page < int(us/400); page++ {
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			seed := uint64(page)
			about(400, &seed)
			<-slots
		}()
	}
	all.Wait()
}

type sessionStore struct {
	sync.RWMutex
	seen map[uint64]int
}

var sessions = sessionStore{seen: map[uint64]int{}}

// Each request renews its session, and so writes.
func (store *sessionStore) renewSession(key uint64, seed *uint64) {
	store.Lock()
	defer store.Unlock()
	store.seen[key]++
	about(80, seed)
}

func (store *sessionStore) known(key uint64) bool {
	store.RLock()
	defer store.RUnlock()
	_, ok := store.seen[key]
	return ok
}

func requests(n int, us float64) {
	left.Store(int64(us / 105))
	team(n, func(id int, seed *uint64) {
		for left.Add(-1) >= 0 {
			about(25, seed)
			key := *seed >> 54
			if *seed>>32%8 == 0 {
				sessions.known(key)
			}
			sessions.renewSession(key, seed)
		}
	})
}

// The client may call its partner once a millisecond.
func limited(n int, us float64) {
	left.Store(int64(us / 1000))
	limiter := time.NewTicker(time.Millisecond)
	defer limiter.Stop()
	team(n, func(id int, seed *uint64) {
		for left.Add(-1) >= 0 {
			<-limiter.C
			about(200, seed)
		}
	})
}

type row struct {
	worker int
	value  uint64
}

// One goroutine takes all rows and inserts them.
func insertRows(rows <-chan row, done chan<- uint64) {
	seed, sum := uint64(5), uint64(0)
	for r := range rows {
		sum += r.value + uint64(r.worker)
		about(80, &seed)
	}
	done <- sum
}

func importer(n int, us float64) {
	left.Store(int64(us / 85))
	rows, done := make(chan row), make(chan uint64)
	go insertRows(rows, done)
	team(n, func(id int, seed *uint64) {
		for left.Add(-1) >= 0 {
			about(30, seed)
			rows <- row{id, *seed}
		}
	})
	close(rows)
	sink.Store(<-done)
}

func main() {
	turnsPerUs, _ = strconv.ParseFloat(os.Getenv("PLANTED_TURNS"), 64)
	if turnsPerUs <= 0 {
		turnsPerUs = calibrated()
	}
	if len(os.Args) == 2 && os.Args[1] == "calibrate" {
		fmt.Printf("%.1f\n", turnsPerUs)
		return
	}
	modes := map[string]func(int, float64){"pages": pages, "requests": requests, "limited": limited, "importer": importer}
	if len(os.Args) < 4 || modes[os.Args[1]] == nil {
		os.Exit(2)
	}
	n, _ := strconv.Atoi(os.Args[2])
	ms, _ := strconv.ParseFloat(os.Args[3], 64)
	began := time.Now()
	modes[os.Args[1]](n, ms*1000)
	fmt.Printf("%.1f ms\n", float64(time.Since(began).Microseconds())/1000)
}
