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
	if err := flags.Parse(arguments); err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(*workers)
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
	for {
		connection, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go echo(connection, size)
	}
}

func echo(connection net.Conn, size int) {
	defer connection.Close()
	buffer := make([]byte, size)
	for {
		count, err := connection.Read(buffer)
		if err != nil {
			return
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
