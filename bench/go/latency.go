package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Computes until the moment is written or limit nanoseconds after from have gone.
func spin(stamp *atomic.Int64, from, limit int64) int64 {
	for {
		if at := stamp.Load(); at != 0 {
			return min(max(at-from, 0), limit)
		}
		if now()-from >= limit {
			return limit
		}
	}
}

func spinFor(duration time.Duration) {
	for until := now() + int64(duration); now() < until; {
	}
}

// Every latency in a vector first: printing between them would disturb them.
func latencies(j job, one func() int64) {
	seen := make([]int64, 0, j.warmups+j.n)
	for range j.warmups + j.n {
		seen = append(seen, one())
	}
	for _, nanos := range seen[j.warmups:] {
		sample("latency", float64(nanos))
	}
}

func busyChild(j job) {
	latencies(j, func() int64 {
		var stamp atomic.Int64
		done := make(chan struct{})
		from := now()
		go func() {
			stamp.Store(now())
			close(done)
		}()
		latency := spin(&stamp, from, 10_000_000)
		spinFor(300 * time.Microsecond)
		<-done
		return latency
	})
}

// Two goroutines at a time: the newest stays in a slot that thieves see only later.
func handOver(j job) {
	latencies(j, func() int64 {
		var stamp atomic.Int64
		done := make(chan struct{}, 2)
		before := now()
		go func() {
			stamp.Store(now())
			done <- struct{}{}
		}()
		between := now()
		go func() { done <- struct{}{} }()
		latency := spin(&stamp, between, 1_000_000)
		if at := stamp.Load(); at != 0 && at < between {
			latency = at - before
		}
		<-done
		<-done
		return latency
	})
}

// A goroutine that holds its thread stands for the plain thread, another is the worker.
func wake(j job) {
	runtime.GOMAXPROCS(2)
	runtime.LockOSThread()
	var stamp atomic.Int64
	work := make(chan struct{}, 1)
	go func() {
		for range work {
			stamp.Store(now())
		}
	}()
	latencies(j, func() int64 {
		stamp.Store(0)
		spinFor(300 * time.Microsecond)
		from := now()
		work <- struct{}{}
		return spin(&stamp, from, 10_000_000)
	})
}
