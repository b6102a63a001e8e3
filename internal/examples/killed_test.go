package examples_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

var (
	seedFlag = flag.Uint64("seed", 0, "the seed of the first of -runs histories of killed runs")
	runsFlag = flag.Int("runs", 1, "with -seed: how many histories to run with each victim")
)

// killedConfig has objects with a natural key: what is paid for, what is created one by one, and
// a set. Nothing of it may exist twice.
const killedConfig = requiredProvider + `
provider "mailhost" {}

resource "mailhost_domain" "this" {
  for_each = toset(["one-killed.com", "two-killed.com"])
  name     = each.key
  ` + contact + `}

resource "mailhost_mailbox" "this" {
  count      = 25
  domain     = mailhost_domain.this["one-killed.com"].name
  local_part = "m${count.index}"
  first_name = "Jane"
  last_name  = "Doe"
}

resource "mailhost_mailbox_set" "this" {
  domain      = mailhost_domain.this["two-killed.com"].name
  on_existing = "adopt"
  mailboxes   = { for i in range(200) : "s${i}" => { first_name = "Jane", last_name = "Doe" } }
}

resource "mailhost_dns_record" "this" {
  count  = 10
  domain = mailhost_domain.this["one-killed.com"].name
  name   = "host${count.index}"
  type   = "A"
  value  = "192.0.2.${count.index}"
}

resource "mailhost_forwarding" "this" {
  count        = 3
  domain       = mailhost_domain.this["one-killed.com"].name
  target_email = "to${count.index}@example.org"
}
`

// TestKilledRun kills the provider, the provider and the CLI, or the server, while the CLI
// applies a configuration. The next apply adopts the domains and the mailboxes of the set, and
// refuses to create what exists, with an import block. With these blocks the apply succeeds:
// nothing is bought or created twice, and no object has two resources.
func TestKilledRun(t *testing.T) {
	needsShell(t, "pgrep")
	seed, runs := uint64(1), 1
	victims := []string{"embedded provider", "provider and CLI", "server"}
	if *seedFlag != 0 {
		seed, runs = *seedFlag, *runsFlag
		victims = append(victims, "provider", "embedded provider and CLI")
	}
	for n := range uint64(runs) {
		for _, victim := range victims {
			t.Run(fmt.Sprintf("seed=%d/%s", seed+n, victim), func(t *testing.T) { killRuns(t, seed+n, victim) })
		}
	}
}

func killRuns(t *testing.T, seed uint64, victim string) {
	w := newWorkspace(t)
	w.write(t, "main.tf", killedConfig)
	random := rand.New(rand.NewPCG(seed, 0))
	database := filepath.Join(w.dir, ".mailhost", "mailhost.db")
	var server *accountServer
	if !strings.HasPrefix(victim, "embedded") {
		database = filepath.Join(w.dir, "server.db")
		server = newAccountServer(t, w, database)
	}
	w.must(t, "init")
	for range 2 {
		_ = w.applyDuring(t, 1+random.IntN(60), func(cli *os.Process) {
			if victim == "server" {
				server.restart(t)
				return
			}
			providers := childrenOf(t, cli)
			if strings.HasSuffix(victim, "CLI") {
				_ = cli.Kill()
			}
			killAll(t, providers)
		})
		w.restoreState(t)
	}
	w.applyWithImports(t)
	w.planIsEmpty(t)
	w.ids(t)
	createdOnce(t, database, map[string]int{"domain": 2, "mailbox": 225, "forwarding": 3})
}

// existing matches the error of a create that meets an existing object: the address of the
// resource, and the id in the import block.
var existing = regexp.MustCompile(`^.*? with (mailhost_\w+\.this\[[^]]+\]), .*import \{ to = \S+ id = ("[^"]+")`)

// applyWithImports applies, and imports the objects that the apply refuses to create.
func (w *workspace) applyWithImports(t *testing.T) {
	t.Helper()
	var blocks strings.Builder
	for range 5 { // the objects that depend on a refused one are refused in the next apply
		out, code := w.run(t, "apply", "-auto-approve", "-no-color")
		if code == 0 {
			return
		}
		for i, problem := range strings.Split(unwrapped(out), "Error: ") {
			m := existing.FindStringSubmatch(problem)
			switch {
			case i == 0: // the output before the errors
			case m == nil:
				t.Fatalf("no import block: %s", problem)
			default:
				fmt.Fprintf(&blocks, "import {\n  to = %s\n  id = %s\n}\n", m[1], m[2])
			}
		}
		w.write(t, "imports.tf", blocks.String())
	}
	t.Fatalf("the apply does not succeed with\n%s", &blocks)
}

// childrenOf returns the processes that the CLI has started: the provider's.
func childrenOf(t *testing.T, cli *os.Process) (pids []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pgrep", "-P", strconv.Itoa(cli.Pid)).Output()
	t.Logf("children of the CLI: %q (%v)", out, err) // none if the run has just ended
	return strings.Fields(string(out))
}

func killAll(t *testing.T, pids []string) {
	t.Helper()
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		assert.NilError(t, err)
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// applyDuring applies, and calls disturb when the CLI has printed some lines about resources.
// It returns the output.
func (w *workspace) applyDuring(t *testing.T, lines int, disturb func(cli *os.Process)) (out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.cli, "apply", "-auto-approve", "-no-color")
	cmd.Dir, cmd.Env = w.dir, w.env
	pipe, err := cmd.StdoutPipe()
	assert.NilError(t, err)
	cmd.Stderr = cmd.Stdout
	assert.NilError(t, cmd.Start())
	begin, ended := make(chan struct{}), make(chan struct{})
	var text bytes.Buffer
	go func() {
		defer close(ended)
		for scanner := bufio.NewScanner(pipe); scanner.Scan(); {
			text.WriteString(scanner.Text() + "\n")
			if strings.HasPrefix(scanner.Text(), "mailhost_") {
				if lines--; lines == 0 {
					close(begin)
				}
			}
		}
		err = cmd.Wait()
	}()
	select {
	case <-begin:
		disturb(cmd.Process)
	case <-ended:
	}
	<-ended
	t.Logf("the run ended: %v", err)
	assert.Check(t, !strings.Contains(text.String(), "panic:"), "the run printed\n%s", &text)
	return text.String()
}

// restoreState replaces a state that the CLI has emptied to write it again, and then was
// killed, by the backup of the run.
func (w *workspace) restoreState(t *testing.T) {
	t.Helper()
	path := filepath.Join(w.dir, "terraform.tfstate")
	if text, err := os.ReadFile(path); os.IsNotExist(err) || json.Valid(text) {
		return
	}
	if err := os.Rename(path+".backup", path); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	t.Log("the CLI was killed while it wrote its state")
}

// createdOnce checks in the audit log that each object was created once, and how many of
// each type.
func createdOnce(t *testing.T, database string, want map[string]int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), mailhostd(), "audit", "--format", "json", "--database", database).Output()
	assert.NilError(t, err)
	created, counts := map[string]bool{}, map[string]int{}
	for line := range strings.Lines(string(out)) {
		var entry struct {
			Changes []struct{ Action, Type, Name string }
		}
		assert.NilError(t, json.Unmarshal([]byte(line), &entry))
		for _, change := range entry.Changes {
			object := change.Type + " " + change.Name
			switch {
			case want[change.Type] == 0:
			case change.Action == "deleted":
				t.Errorf("%s was deleted", object)
			case change.Action == "created" && created[object]:
				t.Errorf("%s was created twice", object)
			case change.Action == "created":
				created[object] = true
				counts[change.Type]++
			}
		}
	}
	for typ, n := range want {
		assert.Check(t, counts[typ] == n, "%d of type %s were created, want %d", counts[typ], typ, n)
	}
}

// accountServer is mailhostd with one account, for a workspace.
type accountServer struct {
	database, address string
	flags             []string
	cmd               *exec.Cmd
}

func newAccountServer(t *testing.T, w *workspace, database string) *accountServer {
	t.Helper()
	initAccount(t, w, database)
	s := &accountServer{database: database, address: freeAddress(t)}
	s.start(t)
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	w.set("MAILHOST_BASE_URL", "http://"+s.address)
	return s
}

// initAccount creates an account, which the workspace uses.
func initAccount(t *testing.T, w *workspace, database string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), mailhostd(), "init", "--database", database).Output()
	assert.NilError(t, err)
	var owner struct {
		AccountID string `json:"account_id"`
		Token     string `json:"token"`
	}
	assert.NilError(t, json.Unmarshal(out, &owner))
	w.set("MAILHOST_ACCOUNT_ID", owner.AccountID)
	w.set("MAILHOST_TOKEN", owner.Token)
}

// start starts the server and waits until it serves.
func (s *accountServer) start(t *testing.T) {
	t.Helper()
	args := []string{"serve", "--listen", s.address, "--log-format", "json", "--database", s.database}
	s.cmd = exec.Command(mailhostd(), append(args, s.flags...)...)
	log, err := s.cmd.StderrPipe()
	assert.NilError(t, err)
	assert.NilError(t, s.cmd.Start())
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), `"msg":"serving"`) {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return
		}
	}
	t.Error("the server does not start")
}

func (s *accountServer) restart(t *testing.T) {
	t.Helper()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.start(t)
}
