// Small services and tools. Called as MODE n MILLISECONDS.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

func layout(x uint64, rounds int) uint64 {
	for i := 0; i < rounds; i++ {
		x = mix(x + uint64(i))
	}
	return x
}

var ms = 400.0

func amount(in400ms float64) int { return int(in400ms * ms / 400) }

// mandelbrot: a pool of workers takes rows from a channel.
func mandelbrot(n int) {
	const width = 400
	height := amount(3400)
	rows := make(chan int, height)
	for y := 0; y < height; y++ {
		rows <- y
	}
	close(rows)
	picture := make([]int32, width*height)
	var group sync.WaitGroup
	for w := 0; w < n; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for y := range rows {
				for x := 0; x < width; x++ {
					cr, ci := float64(x)/width*3-2, float64(y%300)/300*2-1
					zr, zi := 0.0, 0.0
					step := int32(0)
					for ; step < 300 && zr*zr+zi*zi < 4; step++ {
						zr, zi = zr*zr-zi*zi+cr, 2*zr*zi+ci
					}
					picture[y*width+x] = step
				}
			}
		}()
	}
	group.Wait()
	sum := 0
	for _, s := range picture {
		sum += int(s)
	}
	fmt.Println("iterations", sum)
}

// sessions: handlers share a sync.Map of sessions, which hardly ever is in the way.
func sessions(n int) {
	var known sync.Map
	for s := 0; s < 500; s++ {
		known.Store(s, new(atomic.Int64))
	}
	var next atomic.Int64
	total := int64(amount(52000))
	var group sync.WaitGroup
	for w := 0; w < n; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for r := next.Add(1); r <= total; r = next.Add(1) {
				body := layout(uint64(r), 1800)
				if s, ok := known.Load(int(body % 500)); ok {
					s.(*atomic.Int64).Add(1)
				}
			}
		}()
	}
	group.Wait()
	fmt.Println(total, "requests")
}

type store struct {
	sync.Mutex
	entries  map[uint64]uint64
	checksum uint64
}

// kv: a key-value store whose Put keeps a checksum of everything while it holds the lock.
func kv(n int) {
	db := &store{entries: make(map[uint64]uint64, 1024)}
	var next atomic.Int64
	total := int64(amount(2600))
	var group sync.WaitGroup
	for w := 0; w < n; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for r := next.Add(1); r <= total; r = next.Add(1) {
				value := layout(uint64(r), 9000)
				db.Lock()
				db.entries[uint64(r)%512] = value
				db.checksum = layout(db.checksum^value, 27000)
				db.Unlock()
			}
		}()
	}
	group.Wait()
	fmt.Printf("%d entries %x\n", len(db.entries), db.checksum)
}

type prices struct {
	mu    sync.RWMutex
	table [512]uint64
}

func (p *prices) quote(i uint64) uint64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.table[i%512]
}

func (p *prices) adjust(by uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for round := 0; round < 60; round++ {
		for i := range p.table {
			p.table[i] = mix(p.table[i] + by)
		}
	}
}

// exchange: traders adjust a price table under the writer's side of an RWMutex.
func exchange(n int) {
	var book prices
	var next atomic.Int64
	total := int64(amount(4900))
	var group sync.WaitGroup
	for w := 0; w < n; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for r := next.Add(1); r <= total; r = next.Add(1) {
				seen := book.quote(uint64(r))
				book.adjust(layout(seen, 7000))
			}
		}()
	}
	group.Wait()
	fmt.Printf("%x\n", book.table[0])
}

type order struct {
	item  uint64
	reply chan uint64
}

// warehouse: an actor owns the stock; all orders go to it over an unbuffered channel.
func warehouse(n int) {
	inbox := make(chan order)
	go func() {
		var stock uint64
		for o := range inbox {
			stock = layout(stock^o.item, 90000)
			o.reply <- stock
		}
	}()
	var next atomic.Int64
	total := int64(amount(780))
	var group sync.WaitGroup
	for w := 0; w < n; w++ {
		group.Add(1)
		go func() {
			defer group.Done()
			reply := make(chan uint64)
			for r := next.Add(1); r <= total; r = next.Add(1) {
				inbox <- order{layout(uint64(r), 30000), reply}
				<-reply
			}
		}()
	}
	group.Wait()
	close(inbox)
	fmt.Println(total, "orders")
}

// directories: one goroutine per share of the folders, and the first folder is by far the largest.
func directories(n int) {
	files := make([]int, 8)
	for i := range files {
		files[i] = amount(150)
	}
	files[0] = amount(2000)
	var group sync.WaitGroup
	var sum atomic.Uint64
	for w := 0; w < n; w++ {
		group.Add(1)
		go func(w int) {
			defer group.Done()
			for d := w; d < len(files); d += n {
				for f := 0; f < files[d]; f++ {
					sum.Add(layout(uint64(d*10000+f), 30000))
				}
			}
		}(w)
	}
	group.Wait()
	fmt.Printf("%x\n", sum.Load())
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "calibrate" {
		from := time.Now()
		layout(1, 10000000)
		fmt.Printf("%.1f\n", 10000000/float64(time.Since(from).Microseconds()))
		return
	}
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: fresh MODE n [MS]")
		os.Exit(2)
	}
	n, _ := strconv.Atoi(os.Args[2])
	if len(os.Args) > 3 {
		ms, _ = strconv.ParseFloat(os.Args[3], 64)
	}
	modes := map[string]func(int){"mandelbrot": mandelbrot, "sessions": sessions, "kv": kv,
		"exchange": exchange, "warehouse": warehouse, "directories": directories}
	mode, ok := modes[os.Args[1]]
	if !ok || n < 1 {
		os.Exit(2)
	}
	from := time.Now()
	mode(n)
	fmt.Printf("%.1f ms\n", float64(time.Since(from).Microseconds())/1e3)
}
