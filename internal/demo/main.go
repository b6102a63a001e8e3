package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	destroy := flag.Bool("destroy", false, "destroy what the demo applied and remove its folder")
	version := flag.String("version", "0.1.0", "version to install the provider as, without a leading v")
	installOnly := flag.Bool("install-cli", false, "only install a CLI in the demo's folder, unless there is one")
	flag.Parse()

	// The CLI gets the same Ctrl-C from the terminal and ends gracefully by
	// itself; the demo waits for it and then stops.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *destroy, *installOnly); err != nil {
		fmt.Fprintf(os.Stderr, "\nFailed: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version string, destroy, installOnly bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	d := newDemo(root, version, os.Stdout, os.Stderr)
	switch {
	case installOnly:
		_, err = d.cliPath(ctx)
		return err
	case destroy:
		return d.down(ctx)
	}
	return d.up(ctx)
}

// moduleRoot returns the folder with the go.mod, at or above the working
// directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("this is not the provider's source tree; change to the folder with its go.mod")
		}
		dir = parent
	}
	return "", err
}
