// Mailhostd serves the account management API from its own database.
//
//	mailhostd init     creates an account and prints its id and a token
//	mailhostd serve    serves the API, and its reference at /docs
//	mailhostd audit    prints the audit log: who changed what, and when
//	mailhostd migrate  copies everything to another database engine
//	mailhostd backup   copies a database, which may be in use
//	mailhostd openapi  prints the API's OpenAPI document
//
// Every flag has an environment variable, such as MAILHOSTD_LISTEN for --listen; the
// flag has precedence. An error is one line on stderr. The exit code is 0 on success,
// 1 on failure and 2 for an invalid command line.
//
// The program has the flags, listeners and signals, and none of the API's rules. It
// may import everything below apiserver, and chooses the database engine.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

func main() { os.Exit(execute()) }

// The garbage collector lets the heap grow to four times what is in use, because that is
// a few megabytes, and works harder from 48 MiB on. The program itself and SQLite need as
// much again.
const (
	gcPercent   = 300
	memoryLimit = 48 << 20
)

// tuneGC sets the garbage collector, except for what GOGC and GOMEMLIMIT set.
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

func execute() int {
	tuneGC()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // the next signal ends the program at once
		cancel()
	}()
	m := Main{Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr, Openers: openers()}
	return m.Run(ctx)
}
