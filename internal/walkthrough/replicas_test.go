package walkthrough_test

import (
	"errors"
	"flag"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/haproxytest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

var (
	mailboxesFlag = flag.Int("mailboxes", 40, "single mailboxes of a run on replicas")
	setFlag       = flag.Int("set", 400, "mailboxes in a set of a run on replicas")
	everyFlag     = flag.Duration("every", 0, "how long a run on replicas goes on between two servers that end; 0 for as soon as the first is back")
	outageFlag    = flag.Duration("outage", 0, "how long PostgreSQL is stopped; 0 until all servers have noticed")
)

// replicas are servers on one PostgreSQL database, behind HAProxy.
type replicas struct {
	cluster *postgrestest.Cluster
	servers []*accountServer
}

// TestAccReplicas applies a configuration through HAProxy, while one of three servers after the
// other is killed, or restarted, or PostgreSQL crashes and is started again. No run fails,
// nothing is bought or created twice, and the next plan is empty.
func TestAccReplicas(t *testing.T) {
	for name, disturb := range map[string]func(*replicas, *testing.T, <-chan struct{}) int{
		"killed":     (*replicas).kill,
		"restarted":  (*replicas).restart,
		"PostgreSQL": (*replicas).stopPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			r := newReplicas(t, w)
			w.write(t, "main.tf", strings.Replace(killedConfig(*mailboxesFlag, *setFlag), `on_existing = "adopt"`, "", 1))
			w.must(t, "init")
			out, err := w.applyDuring(t, 1, func(_ *os.Process, ended <-chan struct{}) {
				t.Logf("%d times during the apply", disturb(r, t, ended))
			})
			if err != nil {
				t.Fatalf("the apply ended with %v:\n%s", err, out)
			}
			w.planIsEmpty(t)
			createdOnce(t, r.servers[0].database, map[string]int{"domain": 2, "mailbox": *mailboxesFlag + *setFlag, "forwarding": 3})
		})
	}
}

func newReplicas(t *testing.T, w *workspace) *replicas {
	t.Helper()
	r := &replicas{cluster: postgrestest.Start(t)}
	database := r.cluster.URL("postgres", "postgres")
	initAccount(t, w, database)
	var addresses []string
	for range 3 {
		s := &accountServer{database: database, address: haproxytest.FreeAddress(t), flags: []string{"--drain-delay", "300ms"}}
		s.start(t)
		t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
		r.servers = append(r.servers, s)
		addresses = append(addresses, s.address)
	}
	w.set("MAILHOST_BASE_URL", haproxytest.Start(t, addresses...))
	return r
}

// kill kills one server after the other, until the apply has ended.
func (r *replicas) kill(t *testing.T, ended <-chan struct{}) int {
	return r.each(ended, func(s *accountServer) { s.restart(t) })
}

// restart stops one server after the other, as an upgrade does.
func (r *replicas) restart(t *testing.T, ended <-chan struct{}) int {
	return r.each(ended, func(s *accountServer) {
		if err := errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		s.start(t)
	})
}

func (r *replicas) each(ended <-chan struct{}, restart func(*accountServer)) (n int) {
	for {
		select {
		case <-ended:
			return n
		case <-time.After(*everyFlag):
		}
		restart(r.servers[n%len(r.servers)])
		n++
	}
}

// stopPostgres lets PostgreSQL crash, and starts it again.
func (r *replicas) stopPostgres(t *testing.T, ended <-chan struct{}) int {
	if err := r.cluster.Crash(); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.servers {
		for s.isReady(t) {
		}
	}
	select {
	case <-ended:
		t.Error("the apply ended while PostgreSQL was stopped")
	case <-time.After(*outageFlag):
	}
	if err := r.cluster.StartServer(); err != nil {
		t.Fatal(err)
	}
	return 1
}

func (s *accountServer) isReady(t *testing.T) bool {
	t.Helper()
	resp, err := http.Get("http://" + s.address + "/healthz/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
