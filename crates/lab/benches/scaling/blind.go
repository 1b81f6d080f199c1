// Small services. Called as MODE n MILLISECONDS; PLANTED_TURNS: turns of the loop in a microsecond.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

var turnsPerUs, workUs float64
var workers int

//go:noinline
func compute(us float64) uint64 {
	x := uint64(1)
	for turn := int64(us * turnsPerUs); turn > 0; turn-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// items shares so many items among n goroutines and waits for them.
func items(count int64, item func(i int64) uint64) {
	var next atomic.Int64
	var team sync.WaitGroup
	results := make([]uint64, workers*16)
	for w := 0; w < workers; w++ {
		team.Add(1)
		go func(w int) {
			defer team.Done()
			var sum uint64
			for i := next.Add(1) - 1; i < count; i = next.Add(1) - 1 {
				sum ^= item(i)
			}
			results[w*16] = sum
		}(w)
	}
	team.Wait()
}

// Nothing is planted (control): the main goroutine sleeps in a loop of 2 ms while the others work well.
func search() {
	var done atomic.Bool
	go func() {
		items(int64(workUs/200), func(int64) uint64 { return compute(200) })
		done.Store(true)
	}()
	for !done.Load() {
		time.Sleep(2 * time.Millisecond)
	}
}

// GOMAXPROCS(1) in the program: whatever n is, one goroutine runs at a time.
func thumbnails() {
	runtime.GOMAXPROCS(1)
	items(int64(workUs/500), func(int64) uint64 { return compute(500) })
}

type cart struct {
	sync.Mutex
	total uint64
}

// A mutex per entry of a map; 9 of 10 requests are for one entry, and 0.85 of a request holds its mutex.
func carts() {
	all := map[string]*cart{"guest": {}}
	for i := 0; i < 10; i++ {
		all[strconv.Itoa(i)] = &cart{}
	}
	items(int64(workUs/100), func(i int64) uint64 {
		key := "guest"
		if i%10 == 3 {
			key = strconv.Itoa(int(i / 10 % 10))
		}
		c := all[key]
		c.Lock()
		c.total += compute(85)
		c.Unlock()
		return compute(15)
	})
}

// A rate limit: a request per 4 ms, each worker asks for the next. The slot is reserved under a mutex, the time.Sleep is outside of it.
func geocoder() {
	var reserving sync.Mutex
	next := time.Now()
	items(int64(workUs/4000), func(int64) uint64 {
		reserving.Lock()
		now := time.Now()
		if next.Before(now) {
			next = now
		}
		slot := next
		next = next.Add(4 * time.Millisecond)
		reserving.Unlock()
		time.Sleep(slot.Sub(now))
		return compute(200)
	})
}

func calibrated() float64 {
	turnsPerUs = 200
	best := time.Hour
	for i := 0; i < 40; i++ {
		from := time.Now()
		compute(500)
		if took := time.Since(from); took < best {
			best = took
		}
	}
	return 200 * 500 / (float64(best.Nanoseconds()) / 1e3)
}

func main() {
	given, err := strconv.ParseFloat(os.Getenv("PLANTED_TURNS"), 64)
	if err != nil || given <= 0 {
		given = calibrated()
	}
	turnsPerUs = given
	if len(os.Args) == 2 && os.Args[1] == "calibrate" {
		fmt.Printf("%.1f\n", turnsPerUs)
		return
	}
	modes := map[string]func(){"search": search, "thumbnails": thumbnails, "carts": carts, "geocoder": geocoder}
	if len(os.Args) < 4 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "MODE n MILLISECONDS")
		os.Exit(2)
	}
	workers, _ = strconv.Atoi(os.Args[2])
	ms, _ := strconv.ParseFloat(os.Args[3], 64)
	workUs = ms * 1e3
	from := time.Now()
	modes[os.Args[1]]()
	fmt.Printf("%.1f ms\n", float64(time.Since(from).Microseconds())/1e3)
}
