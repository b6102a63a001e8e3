package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// workspace is a folder with a configuration, in which the CLI runs.
type workspace struct {
	b    *bench
	dir  string
	init bool // whether the CLI has installed the providers
}

// workspace makes a folder with files by name.
func (b *bench) workspace(files map[string]string) (*workspace, error) {
	dir, err := os.MkdirTemp(b.scratch, "workspace-")
	if err != nil {
		return nil, err
	}
	w := &workspace{b: b, dir: dir}
	for name, text := range files {
		if err := w.write(name, text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *workspace) write(name, text string) error {
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// reset removes the state, and gives an embedded workspace a new account with a domain.
func (w *workspace) reset(ctx context.Context) error {
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", ".mailhost"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(w.dir, ".mailhost"), 0o700); err != nil {
		return err
	}
	_, err := populateFile(ctx, filepath.Join(w.dir, ".mailhost", "mailhost.db"))
	return err
}

// The exit codes of a plan with -detailed-exitcode.
const (
	noChanges = 0
	changes   = 2
)

// plan measures a plan, which has to end with the exit code want.
func (w *workspace) plan(ctx context.Context, want int) (took float64, err error) {
	took, _, err = w.run(ctx, want, "plan", "-detailed-exitcode", "-input=false")
	return took, err
}

// planPeak measures a plan without changes, and the peak memory of its provider processes
// in MiB.
func (w *workspace) planPeak(ctx context.Context) (took, peak float64, err error) {
	return w.run(ctx, noChanges, "plan", "-detailed-exitcode", "-input=false")
}

// apply measures an apply, with its plan.
func (w *workspace) apply(ctx context.Context) (took float64, err error) {
	took, _, err = w.run(ctx, 0, "apply", "-auto-approve", "-input=false")
	return took, err
}

// lifecycle measures the first plan, the apply and an empty plan in a new account.
func (w *workspace) lifecycle(ctx context.Context) (times [3]float64, err error) {
	if err := w.reset(ctx); err != nil {
		return times, err
	}
	if times[0], err = w.plan(ctx, changes); err != nil {
		return times, err
	}
	if times[1], err = w.apply(ctx); err != nil {
		return times, err
	}
	times[2], err = w.plan(ctx, noChanges)
	return times, err
}

// applyQuickly applies with a backend that writes the state once instead of after each
// resource, and leaves the state in a local file.
func (w *workspace) applyQuickly(ctx context.Context) error {
	var backend stateBackend
	s := httptest.NewServer(&backend)
	defer s.Close()
	if err := w.write("backend.tf", fmt.Sprintf("terraform {\n  backend \"http\" {\n    address = %q\n  }\n}\n", s.URL)); err != nil {
		return err
	}
	w.init = false
	if _, err := w.apply(ctx); err != nil {
		return err
	}
	w.init = false
	for _, name := range []string{"backend.tf", ".terraform/terraform.tfstate"} {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
			return err
		}
	}
	return w.write("terraform.tfstate", string(backend.state))
}

// run measures a command of the CLI in seconds, and the peak memory of its provider
// processes in MiB, 0 where that is unknown. The command has to end with the exit code
// want.
func (w *workspace) run(ctx context.Context, want int, args ...string) (took, peak float64, err error) {
	if !w.init {
		w.init = true
		if _, _, err := w.run(ctx, 0, "init", "-input=false"); err != nil {
			return 0, 0, err
		}
	}
	home := filepath.Join(w.b.scratch, "home")
	cmd := exec.CommandContext(ctx, w.b.cli, append(args, "-no-color")...)
	var output bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, localcli.Environment(os.Environ(), w.b.cliConfig(), home), &output, &output
	watch := watchProviders(w.b.mirror())
	begun := time.Now()
	err = cmd.Run()
	took = time.Since(begun).Seconds()
	peak = watch()
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		code, err = exit.ExitCode(), nil
	}
	if err == nil && code != want {
		err = fmt.Errorf("%s %s ended with %d, want %d:\n%s", filepath.Base(w.b.cli), args[0], code, want, ending(output.String()))
	}
	return took, peak, err
}

// ending returns the last lines of an output, or its errors if there are any.
func ending(out string) string {
	const lines = 15
	if at := strings.Index(out, "Error: "); at >= 0 {
		all := strings.Split(out[at:], "\n")
		return strings.Join(all[:min(lines, len(all))], "\n")
	}
	all := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// watchProviders watches the processes of the providers in a mirror. The function that
// it returns ends that, and returns the highest peak memory in MiB.
func watchProviders(mirror string) func() float64 {
	const interval = 50 * time.Millisecond
	if resolved, err := filepath.EvalSymlinks(mirror); err == nil {
		mirror = resolved
	}
	stop, stopped := make(chan struct{}), make(chan float64)
	go func() {
		peak := 0.0
		for {
			select {
			case <-stop:
				stopped <- peak
				return
			case <-time.After(interval):
			}
			processes, _ := filepath.Glob("/proc/[0-9]*/exe")
			for _, p := range processes {
				program, err := os.Readlink(p)
				if err != nil || !strings.HasPrefix(program, mirror) {
					continue
				}
				if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(p))); err == nil {
					peak = max(peak, peakMiB(pid))
				}
			}
		}
	}()
	return func() float64 {
		close(stop)
		return <-stopped
	}
}

// stateBackend is a server for the CLI's http backend, without locks.
type stateBackend struct {
	mu    sync.Mutex
	state []byte
}

// ServeHTTP implements http.Handler.
func (s *stateBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Method {
	case http.MethodPost:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.state = body
	case http.MethodGet:
		if s.state == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(s.state)
	}
}
