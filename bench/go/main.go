// The cases of bench/src/case/table.rs for Go.
//
// Arguments and answers are those of a child of `compare`: CASE WORKERS N WARMUPS ROUNDS
// STACK in, one `SERIES NUMBER` a line out, or `skip REASON`. Stacks grow by themselves, so
// STACK is not used.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

type job struct {
	name    string
	workers int
	n       int
	warmups int
	rounds  int
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		serve(os.Args[3:])
		return
	}
	if len(os.Args) != 7 {
		fmt.Println("skip wrong arguments")
		return
	}
	number := func(index int) int {
		value, err := strconv.Atoi(os.Args[index])
		if err != nil {
			panic(err)
		}
		return value
	}
	j := job{os.Args[1], number(2), number(3), number(4), number(5)}
	runtime.GOMAXPROCS(j.workers)
	switch {
	case j.name == "yield-2":
		yields(j, 2)
	case j.name == "yield-100":
		yields(j, 100)
	case j.name == "spawn-join":
		spawnJoin(j)
	case j.name == "spawn-join-yield":
		spawnJoinYield(j)
	case j.name == "spawn-1m":
		spawnMany(j)
	case strings.HasPrefix(j.name, "skynet"):
		skynet(j)
	case strings.HasPrefix(j.name, "parked"):
		parked(j)
	case j.name == "busy-child":
		busyChild(j)
	case j.name == "hand-over":
		handOver(j)
	case j.name == "wake":
		wake(j)
	case j.name == "throughput":
		throughput(j)
	default:
		if !talk(j) && !tail(j) {
			fmt.Println("skip no such case")
		}
	}
}
