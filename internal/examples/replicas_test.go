package examples_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// TestAccReplicas applies a configuration through HAProxy, while each of three servers is killed
// or restarted, or their PostgreSQL crashes and is started again. The run does not fail, nothing
// is bought or created twice, and the next plan is empty.
func TestAccReplicas(t *testing.T) {
	for name, disturb := range map[string]func(*testing.T, *postgrestest.Cluster, *accountServer){
		"killed": func(t *testing.T, _ *postgrestest.Cluster, s *accountServer) { s.restart(t) },
		"restarted": func(t *testing.T, _ *postgrestest.Cluster, s *accountServer) { // as by an upgrade
			assert.NilError(t, errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait()))
			s.start(t)
		},
		"PostgreSQL": func(t *testing.T, cluster *postgrestest.Cluster, s *accountServer) {
			assert.NilError(t, cluster.Crash())
			for s.isReady(t) {
			}
			assert.NilError(t, cluster.StartServer())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			cluster := postgrestest.Start(t)
			database := cluster.URL("postgres", "postgres")
			initAccount(t, w, database)
			var servers []*accountServer
			var addresses []string
			for range 3 {
				s := &accountServer{database: database, address: freeAddress(t), flags: []string{"--drain-delay", "300ms"}}
				s.start(t)
				t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
				servers, addresses = append(servers, s), append(addresses, s.address)
			}
			w.set("MAILHOST_BASE_URL", startHAProxy(t, addresses...))
			w.write(t, "main.tf", strings.Replace(killedConfig, `on_existing = "adopt"`, "", 1))
			w.must(t, "init")
			out := w.applyDuring(t, 1, func(*os.Process) {
				for _, s := range servers {
					disturb(t, cluster, s)
				}
			})
			assert.Assert(t, strings.Contains(out, "Apply complete!"), "the apply failed:\n%s", out)
			w.planIsEmpty(t)
			createdOnce(t, database, map[string]int{"domain": 2, "mailbox": 225, "forwarding": 3})
		})
	}
}

func (s *accountServer) isReady(t *testing.T) bool {
	t.Helper()
	resp, err := http.Get("http://" + s.address + "/healthz/ready")
	assert.NilError(t, err)
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

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
