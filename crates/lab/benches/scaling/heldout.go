// Programs that nobody tuned the analysis to, in Go: MODE n MILLISECONDS, with the same total work whatever n is.
package main

import (
	"container/list"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

var (
	turnsPerUs float64
	sinks      [256][16]uint64
	workers    int
	totalUs    float64
)

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
		sinks[0][0] = compute(500)
		best = min(best, float64(time.Since(began).Nanoseconds())/1e3)
	}
	return turnsPerUs * 500 / best
}

// Starts the workers on the numbers of a queue, and waits for all.
func team(items int, body func(id, item int)) {
	queue := make(chan int, items)
	for item := 0; item < items; item++ {
		queue <- item
	}
	close(queue)
	var all sync.WaitGroup
	for id := 0; id < workers; id++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for item := range queue {
				body(id, item)
			}
		}()
	}
	all.Wait()
}

func of(us float64) int {
	return int(totalUs / us)
}

// Blurs rows of a picture. Nothing in the way.
func blur() {
	const width = 2048
	source := make([]int32, width+2)
	for i := range source {
		source[i] = int32(i * 37 % 256)
	}
	team(of(100), func(id, row int) {
		target := make([]int32, width+2)
		for pass := 0; pass < 60; pass++ {
			for x := 1; x <= width; x++ {
				target[x] = (source[x-1] + 2*source[x] + source[x+1] + int32(row&pass)) / 4
			}
		}
		sinks[id][0] += uint64(target[row%width])
	})
}

// A cache that forgets the entry that was not used for longest.
type lru struct {
	sync.Mutex
	order *list.List
	at    map[int]*list.Element
}

func (cache *lru) get(key int) {
	cache.Lock()
	defer cache.Unlock()
	if found, ok := cache.at[key]; ok {
		cache.order.MoveToFront(found)
		return
	}
	sinks[255][0] = compute(100)
	cache.at[key] = cache.order.PushFront(key)
	if cache.order.Len() > 64 {
		last := cache.order.Back()
		delete(cache.at, last.Value.(int))
		cache.order.Remove(last)
	}
}

func caching() {
	cache := &lru{order: list.New(), at: map[int]*list.Element{}}
	team(of(100), func(id, item int) {
		sinks[id][0] += compute(30)
		cache.get(item * item % 211)
	})
}

// Prices that are read by all, and changed after each second reading.
func prices() {
	var guard sync.RWMutex
	price := map[string]uint64{}
	team(of(115), func(id, item int) {
		sinks[id][0] += compute(20 + float64(item*31%40))
		guard.RLock()
		sinks[id][0] += price["wheat"] + compute(10)
		guard.RUnlock()
		if item%2 == 0 {
			guard.Lock()
			price["wheat"] = compute(130)
			guard.Unlock()
		}
	})
}

// Workers parse, and one goroutine collects what they send through a channel without a buffer.
func collector() {
	parsed := make(chan int)
	done := make(chan bool)
	go func() {
		for item := range parsed {
			sinks[255][0] += compute(80 + float64(item*31%40))
		}
		done <- true
	}()
	team(of(100), func(id, item int) {
		sinks[id][0] += compute(40 + float64(item*17%40))
		parsed <- item
	})
	close(parsed)
	<-done
}

// One processor for all goroutines.
func oneProcessor() {
	runtime.GOMAXPROCS(1)
	blur()
}

// Asks the server whose address the environment names, by HTTP.
func ask() {
	address := "http://" + os.Getenv("PLANTED_BACKEND") + "/price"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	team(of(1600), func(id, item int) {
		sinks[id][0] += compute(300)
		answer, err := client.Get(address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	})
}

// A server that computes each answer, one at a time.
func serve() {
	parent := os.Getppid()
	go func() {
		for os.Getppid() == parent {
			time.Sleep(200 * time.Millisecond)
		}
		os.Exit(0)
	}()
	var one sync.Mutex
	http.HandleFunc("/price", func(to http.ResponseWriter, _ *http.Request) {
		one.Lock()
		price := compute(1200)
		one.Unlock()
		fmt.Fprintln(to, price)
	})
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Println(door.Addr())
		err = http.Serve(door, nil)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
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
	modes := map[string]func(){
		"blur": blur, "caching": caching, "prices": prices, "collector": collector,
		"one-processor": oneProcessor, "ask": ask, "serve": serve,
	}
	mode, ok := modes[os.Args[1]]
	if !ok {
		os.Exit(2)
	}
	if os.Args[1] != "serve" {
		workers, _ = strconv.Atoi(os.Args[2])
		ms, _ := strconv.ParseFloat(os.Args[3], 64)
		totalUs = ms * 1e3
	}
	mode()
}
