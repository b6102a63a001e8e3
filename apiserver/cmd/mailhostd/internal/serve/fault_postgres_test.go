package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// postgresFault is a fault of a PostgreSQL server or its database, and the repair.
type postgresFault struct {
	name          string
	inflict, mend func(c *postgresCase) error
	// start is a part of the error with which a server refuses to start, or "" if it starts.
	start string
	// harmless means that the requests of a running server are not affected.
	harmless bool
	// unready is in the response of the readiness check of a server that serves requests nevertheless.
	unready string
}

// superuser returns a step that runs each statement separately as the superuser.
func superuser(statements ...string) func(*postgresCase) error {
	return func(c *postgresCase) error {
		conn, err := pgx.Connect(c.Context(), c.cluster.URL("postgres", "mail"))
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		for _, statement := range statements {
			if _, err := conn.Exec(c.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}
}

// endSessions ends the sessions of the server, like a restart.
const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'mailhost'`

var postgresFaults = []postgresFault{
	{
		name:    "the server is stopped",
		inflict: func(c *postgresCase) error { return c.cluster.Stop() },
		mend:    func(c *postgresCase) error { return c.cluster.StartServer() },
		start:   "no such file",
	},
	{
		name: "the server becomes a standby",
		inflict: func(c *postgresCase) error {
			return errors.Join(c.cluster.Stop(), os.WriteFile(filepath.Join(c.cluster.Dir(), "data", "standby.signal"), nil, 0o644), c.cluster.StartServer())
		},
		mend: superuser(`SELECT pg_promote()`),
	},
	{
		name:    "the server is read-only",
		inflict: superuser(`ALTER SYSTEM SET default_transaction_read_only = on`, `SELECT pg_reload_conf()`),
		mend:    superuser(`SET default_transaction_read_only = off`, `ALTER SYSTEM RESET default_transaction_read_only`, `SELECT pg_reload_conf()`),
	},
	{
		name:    "the password is another one",
		inflict: superuser(`ALTER ROLE mailhost PASSWORD 'another'`, endSessions),
		mend:    superuser(`ALTER ROLE mailhost PASSWORD 'secret'`),
		start:   "password authentication failed",
	},
	{
		name:    "the user has no right to connect",
		inflict: superuser(`REVOKE CONNECT ON DATABASE mail FROM PUBLIC, mailhost`, endSessions),
		mend:    superuser(`GRANT CONNECT ON DATABASE mail TO mailhost`),
		start:   "permission denied for database",
	},
	{
		name:    "the user has no right to write",
		inflict: superuser(`REVOKE INSERT ON audit_entries FROM mailhost`),
		mend:    superuser(`GRANT INSERT ON audit_entries TO mailhost`),
	},
	{
		name:     "the schema is that of a later version",
		inflict:  superuser(`UPDATE mailhost_schema SET version = version + 1, compatible_with = version + 1`),
		mend:     superuser(`UPDATE mailhost_schema SET version = version - 1, compatible_with = version - 1`),
		start:    "newer version",
		harmless: true,
		unready:  "its schema is version",
	},
	{
		name:     "the triggers are disabled",
		inflict:  superuser(`ALTER TABLE authorizations DISABLE TRIGGER USER`),
		mend:     superuser(`ALTER TABLE authorizations ENABLE TRIGGER USER`),
		start:    "run in the database `ALTER TABLE authorizations ENABLE TRIGGER authorizations_changed`",
		harmless: true,
	},
	{
		name:    "the disk is full",
		inflict: func(c *postgresCase) error { return fillDisk(filepath.Join(c.disk, "filler")) },
		mend:    func(c *postgresCase) error { return os.Remove(filepath.Join(c.disk, "filler")) },
	},
}

// postgresCase is a server on a database that gets one fault after another.
type postgresCase struct {
	*faultCase
	cluster *postgrestest.Cluster
	disk    string // of the database's tables, or ""
}

// TestPostgresFaults checks a server during faults of its PostgreSQL database: it acknowledges no change
// that could be lost, is not ready and reports the reason; it recovers by itself afterwards; and a
// refused start reports the reason.
func TestPostgresFaults(t *testing.T) {
	t.Parallel()
	c := newPostgresCase(t)
	for _, fault := range postgresFaults {
		t.Run(fault.name, func(t *testing.T) {
			if c.disk == "" && fault.name == "the disk is full" {
				t.Skip("no file system can be mounted here, so that a full disk is not tested")
			}
			c.T = t
			c.run(fault)
		})
	}
	c.T = t
	missing, err := c.missing()
	assert.Check(t, err == nil && len(missing) == 0, "%v; acknowledged and lost: %q", err, missing)
}

// newPostgresCase starts a server on its own cluster, as a user without other rights.
func newPostgresCase(t *testing.T) *postgresCase {
	cluster := postgrestest.Start(t)
	c := &postgresCase{&faultCase{T: t, must: map[string]string{}}, cluster, smallTablespace(t)}
	create := []string{`CREATE ROLE mailhost LOGIN PASSWORD 'secret'`, `CREATE DATABASE mail OWNER mailhost`}
	if c.disk != "" {
		create[1] += ` TABLESPACE small`
		create = append([]string{`CREATE TABLESPACE small LOCATION '` + c.disk + `'`}, create...)
	}
	conn, err := pgx.Connect(t.Context(), cluster.URL("postgres", "postgres"))
	assert.NilError(t, err)
	defer conn.Close(context.Background())
	for _, statement := range create {
		_, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
		assert.NilError(t, err, statement)
	}
	// The superuser needs no password to end a fault.
	assert.NilError(t, os.WriteFile(filepath.Join(cluster.Dir(), "data", "pg_hba.conf"), []byte("local all postgres trust\nlocal all mailhost scram-sha-256\n"), 0o644))
	assert.NilError(t, superuser(`SELECT pg_reload_conf()`)(c))
	c.path = strings.Replace(cluster.URL("mailhost", "mail"), "mailhost@", "mailhost:secret@", 1)
	c.owner = mailhostdtest.InitializeIn(t, c.path)
	if refused := c.spawn(); refused != "" {
		t.Fatal(refused)
	}
	c.server.As(t, c.owner).Domain("example.com")
	return c
}

// smallTablespace mounts a small file system for PostgreSQL's user. It returns "" if that is impossible.
func smallTablespace(t *testing.T) string {
	dir := t.TempDir()
	owner, err := user.Lookup("postgres")
	if err != nil || os.Getuid() != 0 {
		return ""
	}
	options := fmt.Sprintf("size=24m,mode=0700,uid=%s,gid=%s", owner.Uid, owner.Gid)
	for parent := filepath.Dir(dir); parent != "/tmp" && parent != "/"; parent = filepath.Dir(parent) {
		if err := os.Chmod(parent, 0o755); err != nil {
			return ""
		}
	}
	if exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).Run() != nil {
		return ""
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", "-l", dir).CombinedOutput()
		assert.Check(t, err == nil, "umount: %v %s", err, out)
	})
	return dir
}

func (c *postgresCase) run(fault postgresFault) {
	status := c.create(localPart("before " + fault.name))
	assert.Assert(c, status == http.StatusCreated, "create before: %d; log:\n%s", status, c.server.Log)
	logged := len(c.server.Entries(c.T, "the database is unavailable"))
	assert.NilError(c, fault.inflict(c))
	// A disk is not full until the files have to grow.
	refused := false
	for n := 0; n < 60 && !refused; n++ {
		status, created := c.createMany(localPart(fmt.Sprint(fault.name, n)) + "-")
		refused = status != http.StatusOK
		if refused && status != http.StatusServiceUnavailable || fault.harmless && refused || !refused && n > 1 && fault.name != "the disk is full" && !fault.harmless {
			c.Fatalf("a change: %d; log:\n%s", status, c.server.Log)
		}
		if fault.harmless && created {
			break
		}
	}
	ready, body := mailhostdtest.Fetch(c.T, http.MethodGet, c.server.URL+"/healthz/ready")
	outages := fmt.Sprint(c.server.Entries(c.T, "the database is unavailable")[logged:])
	c.Logf("ready: %d %s; log: %s", ready, body, outages)
	assert.Check(c, (ready == http.StatusOK) == (fault.harmless && fault.unready == "") && (outages == "[]") == fault.harmless, "ready: %d; log: %s", ready, outages)
	if fault.unready != "" {
		assert.Check(c, strings.Contains(body, fault.unready) && len(c.server.Entries(c.T, "the server is not ready any more")) == 1, "ready: %s; log:\n%s", body, c.server.Log)
	}
	code, _, stderr := mailhostdtest.Run(c.T, "audit", "--database", c.path, "--limit", "1")
	c.Logf("a command: %d %s", code, stderr)
	if (code == cli.ExitOK) != (fault.start == "") || !strings.Contains(stderr, fault.start) || fault.start != "" && !strings.Contains(stderr, "; ") {
		c.Errorf("a command on the database: exit code %d, %s; want %q, and what to do", code, stderr, fault.start)
	}
	for _, text := range []string{outages, body, stderr} {
		assert.Check(c, !strings.Contains(text, "secret") && !strings.Contains(text, "another\""), "the password is in %s", text)
	}
	assert.NilError(c, fault.mend(c))
	for n := 0; ; n++ { // a server that starts refuses connections for a moment
		ready, body := mailhostdtest.Fetch(c.T, http.MethodGet, c.server.URL+"/healthz/ready")
		if ready == http.StatusOK {
			break
		}
		assert.Assert(c, n <= 1000, "ready afterwards: %d %s", ready, body)
	}
	status = c.create(localPart("after " + fault.name))
	assert.Check(c, status == http.StatusCreated, "a create afterwards: %d; log:\n%s", status, c.server.Log)
}

func localPart(name string) string { return strings.ReplaceAll(name, " ", "-") }

// createMany creates mailboxes with one request.
func (c *postgresCase) createMany(prefix string) (status int, created bool) {
	var items []string
	for n := range 100 {
		items = append(items, fmt.Sprintf(`{"local_part":"%s%d","first_name":"A","last_name":"B"}`, prefix, n))
	}
	r, err := c.server.As(c.T, c.owner).Try(c.Context(), http.MethodPost, "/mailboxes/bulk", `{"domain":"example.com","items":[`+strings.Join(items, ",")+`]}`)
	assert.NilError(c, err)
	assert.Check(c, r.Status != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "", "no Retry-After in %v", r.Header)
	if r.Status == http.StatusOK {
		objectsIn(r.JSON, func(address string, o object) { c.must[address], created = o.id, true })
	}
	return r.Status, created
}
