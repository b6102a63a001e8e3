package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(execute()) }

func execute() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		// From here on the next signal has its usual effect, and ends the program
		// at once.
		signal.Stop(signals)
		cancel()
	}()
	m := Main{Args: os.Args[1:], Environ: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr, Openers: openers()}
	return m.Run(ctx)
}
