// The programs of bench/src/peers/tail once more: goroutines that settle before the work
// comes, or wait beside goroutines that hold a processor.
package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Runs the case of that name among these; false if it is none of them.
func tail(j job) bool {
	words := strings.Split(strings.TrimPrefix(j.name, "tail-"), "-")
	number := func(at int) int {
		value, err := strconv.Atoi(words[at])
		if err != nil {
			panic(err)
		}
		return value
	}
	if !strings.HasPrefix(j.name, "tail-") {
		return false
	}
	calibrate()
	go func() {
		block(15 * time.Second)
		panic("starved: not done within 15 s")
	}()
	switch words[0] {
	case "pool":
		tailPool(j, number(1))
	case "sleepers":
		tailSleepers(j)
	case "blockers":
		tailBlockers(j)
	case "ring":
		tailRing(j)
	case "stages":
		tailStages(j)
	case "late":
		tailLate(j, words[1], number(2), words[3] == "first")
	case "fresh":
		tailFresh(j)
	case "message":
		tailMessage(j, number(1))
	default:
		return false
	}
	return true
}

var perMicro int

// As calibrate in bench/src/child/compute.rs.
func calibrate() {
	const trial = 500_000
	fastest := int64(1 << 62)
	for range 40 {
		from := now()
		iterate(trial)
		fastest = min(fastest, now()-from)
	}
	perMicro = int(max(trial*1000/max(fastest, 1), 1))
}

func compute(micros int) { iterate(micros * perMicro) }

var spun atomic.Uint64

//go:noinline
func iterate(count int) {
	state := uint64(0x9E37_79B9_7F4A_7C15)
	for range count {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	if state == 0 {
		spun.Add(1)
	}
}

// A system call that the runtime does not know to be a sleep.
func block(time time.Duration) {
	for left := syscall.NsecToTimespec(int64(time)); ; {
		err := syscall.Nanosleep(&left, &left)
		if err != syscall.EINTR {
			return
		}
	}
}

// Starts work(1) to work(count); returns a function that waits for all and adds up.
func crew(count int, work func(number int) int) func() int {
	results := make(chan int, count)
	for number := range count {
		go func() { results <- work(number + 1) }()
	}
	return func() int {
		sum := 0
		for range count {
			sum += <-results
		}
		return sum
	}
}

func sumTo(count int) int { return count * (count + 1) / 2 }

// Prints the time since from as a multiple of micros shared by the workers.
func multiple(j job, from int64, micros int) {
	ideal := float64(micros) * 1e3 / float64(j.workers)
	sample("ideal", float64(now()-from)/ideal)
}

const settle = 20 * time.Millisecond
const nap = 5 * time.Millisecond

func tailPool(j job, goroutines int) {
	jobs := make(chan int, j.n)
	sum := crew(goroutines, func(int) int {
		sum := 0
		for number := range jobs {
			compute(2_000)
			sum += number
		}
		return sum
	})
	time.Sleep(settle)
	from := now()
	for number := range j.n {
		jobs <- number + 1
	}
	close(jobs)
	total := sum()
	multiple(j, from, j.n*2_000)
	check(total == sumTo(j.n))
}

func tailSleepers(j job) {
	from := now()
	total := crew(j.n, func(number int) int {
		time.Sleep(nap)
		compute(10_000)
		return number
	})()
	multiple(j, from, j.n*10_000)
	check(total == sumTo(j.n))
}

func tailBlockers(j job) {
	const length = 300 * time.Millisecond
	for _, series := range []string{"first", "second"} {
		from := now()
		total := crew(j.n, func(number int) int {
			time.Sleep(nap)
			block(length)
			return number
		})()
		sample(series, float64(now()-from)/float64(nap+length))
		check(total == sumTo(j.n))
	}
}

func tailRing(j job) {
	const actors = 8
	laps := max(j.n/actors, 1)
	links := make([]chan int, actors)
	for at := range links {
		links[at] = make(chan int, actors)
	}
	sum := crew(actors, func(number int) int {
		from, to := links[number-1], links[number%actors]
		sum := 0
		for range laps {
			hops := <-from
			compute(1_000)
			to <- hops + 1
			sum += hops
		}
		return sum
	})
	time.Sleep(settle)
	from := now()
	for _, link := range links {
		link <- 0
	}
	hops := sum()
	multiple(j, from, actors*laps*1_000)
	made, counted := 0, 0
	for _, link := range links {
		token := <-link
		made += token
		counted += token * (token - 1) / 2
	}
	check(made == actors*laps)
	check(hops == counted)
}

func tailStages(j job) {
	const stages = 3
	links := make([]chan int, stages+1)
	for at := range links {
		links[at] = make(chan int, j.n)
	}
	from := now()
	for number := range j.n {
		links[0] <- number + 1
	}
	close(links[0])
	total := crew(stages, func(number int) int {
		compute(2_000)
		sum := 0
		for item := range links[number-1] {
			compute(1_000)
			links[number] <- item
			sum += item
		}
		close(links[number])
		return sum
	})()
	multiple(j, from, stages*(j.n*1_000+2_000))
	check(total == stages*sumTo(j.n))
}

// As bench/src/peers/tail/late.rs. A goroutine waits for the end in a system call, as the plain
// thread does there.
func tailLate(j job, hog string, hogs int, hogsFirst bool) {
	const length = time.Millisecond
	var due, begun atomic.Int64
	var guard, shared sync.Mutex
	var late []int64
	arm := func() { due.Store(now() + int64(length)) }
	// A delay, and those of the sleeps that fell due within it.
	add := func(nanos int64) {
		for ; nanos >= 0; nanos -= int64(length) {
			late = append(late, nanos)
		}
	}
	sleeper := func() {
		for {
			time.Sleep(length)
			passed := now() - due.Load()
			if passed < 0 {
				panic("a sleep was too short")
			}
			guard.Lock()
			add(passed)
			guard.Unlock()
			arm()
		}
	}
	hold := func() {
		for {
			begun.Add(1)
			switch hog {
			case "computes":
				compute(500_000)
			case "blocks":
				block(500 * time.Millisecond)
			case "locks":
				shared.Lock()
				compute(500_000)
				shared.Unlock()
			}
			runtime.Gosched()
		}
	}
	ending := make(chan struct{})
	begin := func() {
		guard.Lock()
		late = late[:0]
		guard.Unlock()
		go func() {
			runtime.LockOSThread()
			close(ending)
			block(time.Duration(j.n) * time.Millisecond)
			guard.Lock()
			pending := now() - due.Load()
			if pending > 1_000_000 || len(late) == 0 {
				add(max(pending, 0))
			}
			if begun.Load() == 0 {
				panic("no hog has begun")
			}
			for _, nanos := range late {
				sample("late", float64(nanos)/1e3)
			}
			os.Exit(0)
		}()
		<-ending
		for range hogs {
			go hold()
		}
	}
	if hogsFirst {
		begin()
		arm()
		go sleeper()
	} else {
		arm()
		go sleeper()
		time.Sleep(settle)
		begin()
	}
	select {}
}

func tailFresh(j job) {
	piece := func() {
		compute(100_000)
		runtime.Gosched()
	}
	for range j.workers - 1 {
		go func() {
			for {
				piece()
			}
		}()
	}
	go func() {
		compute(100_000)
		delays := make(chan [2]int64, j.n+1)
		for number := range j.n + 1 {
			spawned := now()
			go func() { delays <- [2]int64{int64(number), now() - spawned} }()
			piece()
		}
		seen := make([]int64, j.n+1)
		for range seen {
			delay := <-delays
			check(seen[delay[0]] == 0)
			seen[delay[0]] = delay[1]
		}
		sample("first", float64(seen[0])/1e3)
		for _, nanos := range seen[1:] {
			sample("later", float64(nanos)/1e3)
		}
		os.Exit(0)
	}()
	select {}
}

// A goroutine that holds a thread of its own stands for the plain thread.
func tailMessage(j job, hogs int) {
	channel := make(chan int64, j.n)
	go func() {
		delays := make([]int64, 0, j.n)
		last := int64(0)
		for range j.n {
			sent := <-channel
			delays = append(delays, now()-sent)
			check(sent > last)
			last = sent
		}
		for _, nanos := range delays {
			sample("delay", float64(nanos)/1e3)
		}
		os.Exit(0)
	}()
	time.Sleep(settle)
	for range hogs {
		go func() {
			for {
				compute(100)
				runtime.Gosched()
			}
		}()
	}
	go func() {
		runtime.LockOSThread()
		block(settle)
		for range j.n {
			block(time.Millisecond)
			channel <- now()
		}
	}()
	select {}
}
