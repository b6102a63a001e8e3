package walkthrough_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

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
