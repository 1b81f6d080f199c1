// A server of Go: net/http serves each connection in a goroutine.
//
// server SERVICE NS KEEP_ALIVE, with the listening socket as standard input. SERVICE is nothing, wait,
// compute or mixed. SIGTERM ends it.
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
	service := os.Args[1]
	ns, err := strconv.ParseInt(os.Args[2], 10, 64)
	if err != nil {
		panic(err)
	}
	need := time.Duration(ns)
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
		switch {
		case service == "compute" || service == "mixed" && asked.Add(1)%10 == 0:
			compute(need)
		case service != "nothing":
			time.Sleep(need)
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(body)
	})}
	server.SetKeepAlivesEnabled(os.Args[3] == "yes")
	panic(server.Serve(listener))
}
