// The servers of bench/src/net/server for Go: `serve go --workers N --port 0 [--http] [--small]` prints
// the port, serves until standard input ends, and has a goroutine for each connection.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
)

func serve(arguments []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	workers := flags.Int("workers", 1, "GOMAXPROCS")
	port := flags.Int("port", 0, "where to listen, 0 for wherever there is room")
	flags.Int("stack", 0, "not used: stacks grow by themselves")
	talk := flags.Bool("http", false, "HTTP/1.1 instead of echo")
	small := flags.Bool("small", false, "connections that read 1 KiB at once")
	flags.IntVar(&price.micros, "micros", 0, "computing for each request but the first")
	flags.Uint64Var(&price.every, "every", 1, "one connection in so many computes")
	if err := flags.Parse(arguments); err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(*workers)
	if price.micros > 0 {
		calibrate()
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		panic(err)
	}
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if *talk {
		serveHTTP(listener)
	} else {
		size := 4096
		if *small {
			size = 1024
		}
		serveEcho(listener, size)
	}
}

// TCP_NODELAY is what Go sets by itself.
func serveEcho(listener net.Listener, size int) {
	for number := uint64(0); ; number++ {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		micros := 0
		if isCostly(number, price.every) {
			micros = price.micros
		}
		go echo(connection, size, micros)
	}
}

// The price of requests; as bench/src/net/server/work.rs.
var price struct {
	micros int
	every  uint64
}

// As is_costly in bench/src/net/cost.rs.
func isCostly(number, every uint64) bool {
	mixed := (number + 1) * 0x9E37_79B9_7F4A_7C15
	mixed = (mixed ^ mixed>>30) * 0xBF58_476D_1CE4_E5B9
	mixed = (mixed ^ mixed>>27) * 0x94D0_49BB_1331_11EB
	return (mixed^mixed>>31)%every == 0
}

// The first request is the greeting and costs nothing.
func echo(connection net.Conn, size, micros int) {
	const request = 64
	heard := 0
	defer connection.Close()
	buffer := make([]byte, size)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if micros > 0 {
			before := max(heard/request-1, 0)
			heard += count
			compute((max(heard/request-1, 0) - before) * micros)
		}
		if _, err := connection.Write(buffer[:count]); err != nil {
			return
		}
	}
}

func serveHTTP(listener net.Listener) {
	body := []byte("Hello, world!")
	answer := func(out http.ResponseWriter, _ *http.Request) {
		out.Write(body)
	}
	panic(http.Serve(listener, http.HandlerFunc(answer)))
}
