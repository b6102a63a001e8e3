// Package haproxytest starts HAProxy for tests, as a load balancer in front of several servers.
//
// HAProxy is found on PATH, or in /usr/sbin. Elsewhere the tests are skipped, unless the
// variable MAILHOSTD_TEST_HAPROXY is "required".
//
// Stability: none. The package is exported for other packages of this repository only.
package haproxytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// variable is the environment variable that the package comment describes.
const variable = "MAILHOSTD_TEST_HAPROXY"

// TB contains the methods that the package needs of a *testing.T.
type TB interface {
	Helper()
	Context() context.Context
	Cleanup(fn func())
	TempDir() string
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

func find() (string, error) {
	if program, err := exec.LookPath("haproxy"); err == nil {
		return program, nil
	}
	if program, err := exec.LookPath("/usr/sbin/haproxy"); err == nil { // not on the PATH of a user of Debian
		return program, nil
	}
	return "", errors.New("haproxy is neither on PATH nor in /usr/sbin")
}

// FreeAddress returns an address on which nothing listens, so that a server can be started
// there again and again.
func FreeAddress(t TB) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// config sends each request to the next server that is ready. A server that is stopped
// reports so before it closes its connections.
const config = `global
	maxconn 1000
defaults
	mode http
	timeout connect 1s
	timeout client 1m
	timeout server 1m
	option redispatch
	option httpchk GET /healthz/ready
	default-server check inter 100ms fall 1 rise 1
frontend api
	bind %s
	default_backend replicas
backend replicas
	balance roundrobin
`

// Start starts HAProxy in front of servers, and returns its URL when one of them responds. It
// skips the test if there is no HAProxy.
func Start(t TB, servers ...string) string {
	t.Helper()
	program, err := find()
	if err != nil && os.Getenv(variable) != "required" {
		t.Skipf("not tested behind HAProxy: %v; install haproxy", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	address := FreeAddress(t)
	var text strings.Builder
	fmt.Fprintf(&text, config, address)
	for i, s := range servers {
		fmt.Fprintf(&text, "\tserver replica%d %s\n", i, s)
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	cmd := exec.Command(program, "-db", "-f", path) //nolint:noctx // the cleanup ends it, after the last request
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	url := "http://" + address
	for !responds(t.Context(), url) {
		select {
		case <-ended:
			t.Fatalf("haproxy ended: %s", output.String())
		case <-t.Context().Done():
			t.Fatal("haproxy does not respond")
		default:
		}
	}
	return url
}

func responds(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz/live", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
