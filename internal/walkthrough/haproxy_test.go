package walkthrough_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// freeAddress returns an address on which nothing listens, so that a server can be started
// there again and again.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// haproxyConfig sends each request to the next server that is ready. A server that is stopped
// reports so before it closes its connections.
const haproxyConfig = `defaults
	mode http
	timeout connect 1s
	timeout client 1m
	timeout server 1m
	option redispatch
	option httpchk GET /healthz/ready
	default-server check inter 100ms fall 1 rise 1
listen api
	bind %s
	balance roundrobin
`

// startHAProxy starts HAProxy in front of servers, and returns its URL when one of them responds.
// HAProxy is on PATH, or in /usr/sbin as with Debian. Without it the test is skipped, unless
// MAILHOSTD_TEST_HAPROXY is "required".
func startHAProxy(t *testing.T, servers ...string) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/haproxy")
	}
	if err != nil && os.Getenv("MAILHOSTD_TEST_HAPROXY") != "required" {
		t.Skipf("not tested behind HAProxy: %v; install haproxy", err)
	} else if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	config := fmt.Sprintf(haproxyConfig, address)
	for i, s := range servers {
		config += fmt.Sprintf("\tserver replica%d %s\n", i, s)
	}
	path := filepath.Join(t.TempDir(), "haproxy.cfg")
	assert.NilError(t, os.WriteFile(path, []byte(config), 0o600))
	var output bytes.Buffer
	cmd := exec.Command(program, "-db", "-f", path)
	cmd.Stdout, cmd.Stderr = &output, &output
	assert.NilError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if resp, err := http.Get("http://" + address + "/healthz/live"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return "http://" + address
			}
		}
		if time.Now().After(until) {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("haproxy does not respond: %s", output.String())
		}
	}
}
