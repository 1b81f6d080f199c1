// Goroutines that sleep, and nothing else.
package main

import (
	"sync"
	"time"
)

func main() {
	var all sync.WaitGroup
	for i := 0; i < 3; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			time.Sleep(600 * time.Millisecond)
		}()
	}
	all.Wait()
}
