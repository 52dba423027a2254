package main

import (
	"runtime"
	"sync"
)

func yields(j job, fibers int) {
	each := j.n / fibers
	times := rounds(j, func() {
		var group sync.WaitGroup
		for range fibers {
			group.Add(1)
			go func() {
				defer group.Done()
				for range each {
					runtime.Gosched()
				}
			}()
		}
		group.Wait()
	})
	perOperation(times, "op", each*fibers)
}

func spawnJoin(j job) {
	times := rounds(j, func() {
		var group sync.WaitGroup
		for range j.n {
			group.Add(1)
			go group.Done()
			group.Wait()
		}
	})
	perOperation(times, "op", j.n)
}

func spawnJoinYield(j job) {
	times := rounds(j, func() {
		var group sync.WaitGroup
		for range j.n {
			group.Add(1)
			go func() {
				runtime.Gosched()
				group.Done()
			}()
			group.Wait()
		}
	})
	perOperation(times, "op", j.n)
}

var sink [4]uint64

//go:noinline
func use(captured [4]uint64) {
	if captured[0] == ^uint64(0) {
		sink = captured
	}
}

func spawnMany(j job) {
	times := rounds(j, func() {
		var group sync.WaitGroup
		group.Add(j.n)
		for index := range j.n {
			value := uint64(index)
			captured := [4]uint64{value, value, value, value}
			go func() {
				use(captured)
				group.Done()
			}()
		}
		group.Wait()
	})
	perOperation(times[:1], "cold", j.n)
	perOperation(times[1:], "warm", j.n)
	sample("peak", float64(status("VmHWM:"))/1024)
}

func skynet(j job) {
	times := rounds(j, func() {
		result := make(chan int, 1)
		go node(result, 0, j.n)
		if sum := <-result; sum != j.n*(j.n-1)/2 {
			panic("wrong sum")
		}
	})
	for _, nanos := range times {
		sample("total", float64(nanos)/1e6)
	}
}

func node(result chan<- int, number, leaves int) {
	if leaves == 1 {
		result <- number
		return
	}
	below := leaves / 10
	results := make(chan int, 10)
	for index := range 10 {
		go node(results, number+index*below, below)
	}
	sum := 0
	for range 10 {
		sum += <-results
	}
	result <- sum
}

func throughput(j job) {
	const batch = 1000
	batches := j.n / batch / j.workers
	times := rounds(j, func() {
		var spawners sync.WaitGroup
		for range j.workers {
			spawners.Add(1)
			go func() {
				defer spawners.Done()
				var group sync.WaitGroup
				for range batches {
					group.Add(batch)
					for range batch {
						go group.Done()
					}
					group.Wait()
				}
			}()
		}
		spawners.Wait()
	})
	for _, nanos := range times {
		sample("rate", float64(batches*batch*j.workers)*1e3/float64(nanos))
	}
}
