package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

var start = time.Now()

// Nanoseconds on the monotonic clock, never 0.
func now() int64 { return int64(time.Since(start)) + 1 }

func sample(series string, value float64) { fmt.Println(series, value) }

// The nanoseconds of each round after the warm-up.
func rounds(j job, round func()) []int64 {
	times := make([]int64, 0, j.rounds)
	for index := range j.warmups + j.rounds {
		from := now()
		round()
		if index >= j.warmups {
			times = append(times, now()-from)
		}
	}
	return times
}

func perOperation(times []int64, series string, operations int) {
	for _, nanos := range times {
		sample(series, float64(nanos)/float64(operations))
	}
}

func parked(j job) {
	var started atomic.Int64
	gate := make(chan struct{})
	before := status("VmRSS:") + status("VmPTE:")
	for range j.n {
		go func() {
			started.Add(1)
			<-gate
		}()
	}
	for started.Load() < int64(j.n) {
		runtime.Gosched()
	}
	time.Sleep(20 * time.Millisecond)
	grown := status("VmRSS:") + status("VmPTE:") - before
	sample("bytes", float64(grown)*1024/float64(j.n))
	os.Exit(0)
}

// One line of the process status, in KiB.
func status(name string) int64 {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if rest, found := strings.CutPrefix(lines.Text(), name); found {
			value, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				panic(err)
			}
			return value
		}
	}
	return 0
}
