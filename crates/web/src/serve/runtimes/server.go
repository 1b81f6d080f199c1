// A server of Go: net/http serves each connection in a goroutine.
//
// server WAIT_NS COMPUTE_NS EVERY KEEP_ALIVE, with the listening socket as standard input: each request
// waits, and one of EVERY computes before. SIGTERM ends it.
package main

import (
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

var (
	asked atomic.Uint64
	sink  atomic.Uint64
)

const threadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID

func cpuTime() time.Duration {
	var at syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&at)), 0)
	return time.Duration(at.Nano())
}

func compute(need time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	state := uint64(88172645463325252)
	for begun := cpuTime(); cpuTime()-begun < need; {
		for range 2000 {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
		}
	}
	sink.Store(state)
}

func main() {
	var numbers [3]int64
	for at := range numbers {
		number, err := strconv.ParseInt(os.Args[1+at], 10, 64)
		if err != nil {
			panic(err)
		}
		numbers[at] = number
	}
	wait, need, every := time.Duration(numbers[0]), time.Duration(numbers[1]), uint64(numbers[2])
	listener, err := net.FileListener(os.Stdin)
	if err != nil {
		panic(err)
	}
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM)
	go func() {
		<-ends
		os.Exit(0)
	}()
	body := []byte("weighed and not wanting")
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if need > 0 && (every == 1 || asked.Add(1)%every == 0) {
			compute(need)
		}
		time.Sleep(wait)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(body)
	})}
	server.SetKeepAlivesEnabled(os.Args[4] == "yes")
	panic(server.Serve(listener))
}
