// The cases of bench/src/case/talk_table.rs: goroutines that wait for one another or for the
// clock. Each checks what arrived.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const buffer = 128

// The case of that name among these; false if it is none of them.
func talk(j job) bool {
	name := strings.TrimSuffix(j.name, "-2w")
	switch {
	case strings.HasPrefix(j.name, "threads-"):
		fmt.Println("skip not made for plain threads")
	case name == "ping-pong":
		pingPong(j, false)
	case name == "ping-pong-apart":
		pingPong(j, true)
	case name == "chan-spsc":
		messages(j, 1, 1)
	case name == "chan-mpsc":
		messages(j, 4, 1)
	case name == "chan-mpmc":
		messages(j, 4, 4)
	case name == "select-2":
		choose(j, 2)
	case name == "select-8":
		choose(j, 8)
	case name == "crowd-mutex":
		crowd(j, 1000)
	case name == "timer":
		timer(j)
	case name == "sleepers-1m":
		sleepers(j)
	default:
		return false
	}
	return true
}

func check(right bool) {
	if !right {
		panic("a value was lost or came twice")
	}
}

func pingPong(j job, apart bool) {
	times := rounds(j, func() {
		there, back, done := make(chan int), make(chan int), make(chan int)
		var begun atomic.Int32
		gate := func() {
			for begun.Add(1); apart && begun.Load() < 2; {
			}
		}
		go func() {
			gate()
			for range j.n {
				back <- <-there + 1
			}
		}()
		go func() {
			gate()
			ball := 0
			for range j.n {
				there <- ball
				ball = <-back
			}
			done <- ball
		}()
		check(<-done == j.n)
	})
	perOperation(times, "op", j.n)
}

func messages(j job, senders, receivers int) {
	each := j.n / senders
	total := each * senders
	times := rounds(j, func() {
		channel := make(chan int, buffer)
		sums := make(chan int)
		for range receivers {
			go func() {
				sum := 0
				for value := range channel {
					sum += value
				}
				sums <- sum
			}()
		}
		var sending sync.WaitGroup
		for sender := range senders {
			sending.Add(1)
			go func() {
				defer sending.Done()
				for value := sender * each; value < (sender+1)*each; value++ {
					channel <- value
				}
			}()
		}
		sending.Wait()
		close(channel)
		sum := 0
		for range receivers {
			sum += <-sums
		}
		check(sum == total*(total-1)/2)
	})
	perOperation(times, "op", total)
}

// As Stock in bench/src/peers/talk/stock.rs: no channel runs dry while the clock runs.
func choose(j job, ways int) {
	each := j.n/ways*5/4 + 200
	c := make([]chan int, ways)
	for way := range c {
		c[way] = make(chan int, each)
	}
	next := 0
	var times []int64
	for round := range j.warmups + j.rounds {
		inside := 0
		for range each {
			for way := range c {
				c[way] <- next
				inside += next
				next++
			}
		}
		from := now()
		sum := 0
		if ways == 2 {
			sum = chooseOfTwo(j.n, c)
		} else {
			sum = chooseOfEight(j.n, c)
		}
		if took := now() - from; round >= j.warmups {
			times = append(times, took)
		}
		for way := range c {
			if len(c[way]) == 0 {
				panic("a channel ran dry")
			}
			for len(c[way]) > 0 {
				sum += <-c[way]
			}
		}
		check(sum == inside)
	}
	perOperation(times, "op", j.n)
}

func chooseOfTwo(n int, c []chan int) int {
	a, b := c[0], c[1]
	sum := 0
	for range n {
		select {
		case value := <-a:
			sum += value
		case value := <-b:
			sum += value
		}
	}
	return sum
}

func chooseOfEight(n int, c []chan int) int {
	c0, c1, c2, c3, c4, c5, c6, c7 := c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
	sum := 0
	for range n {
		select {
		case value := <-c0:
			sum += value
		case value := <-c1:
			sum += value
		case value := <-c2:
			sum += value
		case value := <-c3:
			sum += value
		case value := <-c4:
			sum += value
		case value := <-c5:
			sum += value
		case value := <-c6:
			sum += value
		case value := <-c7:
			sum += value
		}
	}
	return sum
}

func crowd(j job, goroutines int) {
	each := j.n / goroutines
	times := rounds(j, func() {
		var mutex sync.Mutex
		var all sync.WaitGroup
		count := 0
		for range goroutines {
			all.Add(1)
			go func() {
				defer all.Done()
				for range each {
					mutex.Lock()
					count++
					mutex.Unlock()
				}
			}()
		}
		all.Wait()
		check(count == each*goroutines)
	})
	perOperation(times, "op", each*goroutines)
}

// Since Go 1.23 a timer with a channel is armed only while something waits for it.
func timer(j job) {
	times := rounds(j, func() {
		for range j.n {
			if !time.AfterFunc(time.Hour, func() {}).Stop() {
				panic("an hour is long")
			}
		}
	})
	perOperation(times, "op", j.n)
}

// As Sleepers in bench/src/peers/talk/sleepers.rs.
func sleepers(j job) {
	first := now() + int64(j.n)*12_000
	window := float64(j.n) * 10_000
	deadline := func(number int) int64 {
		part := float64(uint64(number)*0x9E37_79B9_7F4A_7C15>>11) / (1 << 53)
		return first + int64(part*window)
	}
	var begun atomic.Int64
	late := make([]int64, j.n)
	var all sync.WaitGroup
	all.Add(j.n)
	for number := range j.n {
		go func() {
			at := deadline(number)
			begun.Add(1)
			time.Sleep(time.Duration(at - now()))
			late[number] = now() - at
			all.Done()
		}()
	}
	for begun.Load() < int64(j.n) {
		time.Sleep(5 * time.Millisecond)
	}
	if now() >= first {
		panic("it took longer to start them than the time for it")
	}
	before := processorTime()
	all.Wait()
	used := processorTime()
	slices.Sort(late)
	if late[0] < 0 {
		panic("one woke early")
	}
	sample("late-p50", float64(late[(j.n-1)/2]))
	sample("late-p99", float64(late[int(float64(j.n-1)*0.99)]))
	sample("cpu", float64(used)/1e6)
	sample("cpu-wakes", float64(used-before)/1e6)
	os.Exit(0)
}

// Nanoseconds that the process has used, in user and in system mode.
func processorTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
