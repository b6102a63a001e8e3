package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/certificate/certificatetest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
)

// setup is a setup in which a server would not start, or would not work as its settings say.
type setup struct {
	name   string
	args   []string
	check  string
	state  string
	detail string
}

// test runs doctor, and checks that the result of one check is as described, and that no other check fails.
func (s setup) test(t *testing.T, args ...string) {
	t.Run(s.name, func(t *testing.T) {
		code, stdout, stderr := mailhostdtest.Run(t, append(append([]string{"doctor", "--listen", "0"}, args...), s.args...)...)
		var results []struct{ Check, State, Detail string }
		assert.NilError(t, json.Unmarshal([]byte(stdout), &results), "%s%s", stdout, stderr)
		for _, r := range results {
			if r.Check == s.check {
				assert.Check(t, r.State == s.state && strings.Contains(r.Detail, s.detail), "%+v; want %s, …%s…", r, s.state, s.detail)
			} else {
				assert.Check(t, r.State != "failed", "%+v", r)
			}
		}
		want := cli.ExitOK
		if s.state == "failed" {
			want = cli.ExitFailure
		}
		assert.Check(t, is.Equal(code, want), "exit code")
	})
}

func TestDoctorNamesEachSetup(t *testing.T) {
	t.Parallel()
	database, _ := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, "--metrics-listen", "0", "--control-listen", "0", "--public-url", "https://mail.example.com")
	address := strings.TrimPrefix(s.URL, "http://")
	url, _ := s.Log.Wait(t, "serving metrics")["url"].(string)
	metrics := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	url, _ = s.Log.Wait(t, "serving the control plane")["url"].(string)
	plane := strings.TrimPrefix(url, "http://")
	other, _ := mailhostdtest.Initialize(t)
	foreign := httptest.NewServer(http.NotFoundHandler()) // neither a mailhostd nor a collector
	defer foreign.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer silent.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	assert.NilError(t, free.Close())
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Check(t, len(body) == 0, "doctor sends spans")
	}))
	defer collector.Close()

	pair, long, expired, early, mixed := certificatetest.NewPair(t, 1), certificatetest.NewPair(t, 5), certificatetest.NewPair(t, 2), certificatetest.NewPair(t, 3), certificatetest.NewPair(t, 4)
	expired.Write(t, 2, time.Now().Add(-time.Minute))
	early.Write(t, 3, time.Now().Add(48*time.Hour))
	long.WriteFor(t, 5, time.Now().Add(-time.Hour), time.Now().Add(90*24*time.Hour))
	chain, err := os.ReadFile(mixed.Cert)
	assert.NilError(t, err)
	second, err := os.ReadFile(pair.Cert)
	assert.NilError(t, err)
	mailhostdtest.WriteFile(t, mixed.Cert, string(chain)+string(second))
	secure := []string{"--tls-cert", pair.Cert, "--tls-key", pair.Key}
	public := []string{"--public-url", "https://mail.example.com"}
	for _, s := range []setup{
		{"the running server", []string{"--listen", address, "--metrics-listen", metrics, "--control-listen", plane}, "listen", "ok", "a mailhostd listens on " + metrics},
		{"a server with another database", []string{"--listen", address, "--database", other}, "listen", "failed", "--listen: a program listens on " + address + " already, and it is a mailhostd with another database"},
		{"a server, and a database in memory", []string{"--listen", address, "--database", ":memory:"}, "listen", "failed", "a mailhostd with another database"},
		{"another program", []string{"--listen", foreign.Listener.Addr().String()}, "listen", "failed", "it is no mailhostd; stop it, or choose another address"},
		{"a program that does not respond", []string{"--metrics-listen", silent.Addr().String()}, "listen", "failed", "--metrics-listen: a program listens on"},
		{"metrics of another server", []string{"--metrics-listen", metrics}, "listen", "failed", "--metrics-listen: a program listens on " + metrics + " already, and it is another mailhostd"},
		{"the control plane of another server", []string{"--control-listen", plane}, "listen", "failed", "--control-listen: a program listens on " + plane},
		{"metrics on the address of the API", []string{"--listen", free.Addr().String(), "--metrics-listen", free.Addr().String()}, "listen", "failed", "--listen and --metrics-listen name the same port"},
		{"control plane and metrics on one port", []string{"--control-listen", free.Addr().String(), "--metrics-listen", "0.0.0.0" + free.Addr().String()[len("127.0.0.1"):]}, "listen", "failed", "--control-listen and --metrics-listen name the same port"},
		{"the replicas' public URL", public, "public url", "ok", "https://mail.example.com"},
		{"another public URL", []string{"--public-url", "https://other.example.com"}, "public url", "warning", "has --public-url https://mail.example.com, and this one has https://other.example.com; all replicas need the same"},
		{"no public URL beside a replica with one", nil, "public url", "warning", "this one has none"},
		{"a plain public URL with a certificate", append(secure, "--public-url", "http://mail.example.com"), "public url", "warning", "begin the URL with https://"},
		{"a certificate of an unknown authority", []string{"--tls-cert", long.Cert, "--tls-key", long.Key, "--public-url", "https://localhost"}, "tls", "ok", "add its intermediate certificates to --tls-cert"},
		{"a public URL that is not in the certificate", append(secure, public...), "tls", "warning", "does not have the name of --public-url"},
		{"an expired certificate", []string{"--tls-cert", expired.Cert, "--tls-key", expired.Key}, "tls", "failed", "the certificate expired at"},
		{"a certificate that is not valid yet", []string{"--tls-cert", early.Cert, "--tls-key", early.Key}, "tls", "failed", "is valid only from"},
		{"a certificate with the key of another", []string{"--tls-cert", pair.Cert, "--tls-key", expired.Key}, "tls", "failed", "set the two files of one certificate"},
		{"a chain of unrelated certificates", []string{"--tls-cert", mixed.Cert, "--tls-key", mixed.Key}, "tls", "failed", "write the chain to --tls-cert in order"},
		{"a collector", []string{"--otlp-endpoint", collector.URL}, "traces", "ok", "accepts traces"},
		{"a collector that is away", []string{"--otlp-endpoint", "http://" + free.Addr().String()}, "traces", "warning", "connection refused; start it, or correct --otlp-endpoint"},
		{"an address that is no collector", []string{"--otlp-endpoint", foreign.URL}, "traces", "warning", "404 Not Found"},
		{"no collector", nil, "traces", "skipped", "there is no --otlp-endpoint"},
	} {
		s.test(t, "--database", database)
	}
	t.Run("a port that the user may not use", func(t *testing.T) {
		self, err := os.Executable()
		assert.NilError(t, err)
		cmd := exec.CommandContext(t.Context(), self, "doctor", "--database", ":memory:", "--listen", "127.0.0.1:81")
		cmd.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1")
		if os.Getuid() == 0 {
			cmd.Args, cmd.Path = append([]string{"setpriv", "--reuid=65534", "--clear-groups", self}, cmd.Args[1:]...), "/usr/bin/setpriv"
		}
		output, err := cmd.Output()
		if err == nil || !json.Valid(output) {
			t.Skipf("doctor can't run as a user without privileges here: %v", err)
		}
		assert.Check(t, is.Contains(string(output), "choose a port from 1024, or give the program the capability CAP_NET_BIND_SERVICE"))
	})
}

// TestDoctorNamesEachSetupOnPostgreSQL checks what a database server permits.
func TestDoctorNamesEachSetupOnPostgreSQL(t *testing.T) {
	t.Parallel()
	cluster := postgrestest.Start(t)
	execute := func(database string, statements ...string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), cluster.URL("postgres", database))
		assert.NilError(t, err)
		defer conn.Close(context.Background())
		for _, statement := range statements {
			_, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
			assert.NilError(t, err, statement)
		}
	}
	execute("postgres", `CREATE ROLE owner LOGIN`, `CREATE ROLE "Guest" LOGIN`, `CREATE ROLE few LOGIN CONNECTION LIMIT 5 IN ROLE owner`,
		`CREATE DATABASE empty OWNER owner`, `CREATE DATABASE full_one OWNER owner`, `CREATE DATABASE small OWNER owner CONNECTION LIMIT 10`, `CREATE DATABASE closed OWNER owner`)
	execute("closed", `REVOKE ALL ON SCHEMA public FROM PUBLIC`)
	execute("empty", `REVOKE CREATE ON SCHEMA public FROM PUBLIC`) // as it is from PostgreSQL 15
	for _, name := range []string{"full_one", "small"} {
		mailhostdtest.InitializeIn(t, cluster.URL("owner", name))
	}
	execute("full_one", `GRANT SELECT ON ALL TABLES IN SCHEMA public TO "Guest"`, `GRANT INSERT, UPDATE, DELETE ON accounts TO "Guest"`)
	for _, s := range []setup{
		{"no schema", []string{cluster.URL("Guest", "closed")}, "permissions", "failed", `may use no schema of the search path "$user", public; run there as its owner: GRANT USAGE, CREATE ON SCHEMA public TO "Guest"`},
		{"an empty database without CREATE", []string{cluster.URL("Guest", "empty")}, "permissions", "failed", `may not create tables in the schema public; run there as its owner: GRANT CREATE ON SCHEMA "public" TO "Guest"`},
		{"an empty database", []string{cluster.URL("owner", "empty")}, "permissions", "ok", "the user may do what is needed"},
		{"a database", []string{cluster.URL("owner", "full_one")}, "permissions", "ok", "the user may do what is needed"},
		{"a database that an older version may use", []string{cluster.URL("owner", "full_one")}, "database", "ok", fmt.Sprintf("1 account, schema %d, which versions of mailhostd with schema 3 or later can use", postgres.OwnSchema())},
		{"few connections", []string{cluster.URL("few", "full_one")}, "connections", "warning", "may need 16 connections, and PostgreSQL permits 5 (the CONNECTION LIMIT of the role few)"},
		{"few connections to the database", []string{cluster.URL("owner", "small")}, "connections", "warning", "permits 10 (the CONNECTION LIMIT of the database)"},
		{"enough connections", []string{cluster.URL("owner", "small"), "--database-connections", "10"}, "connections", "ok", "1 server with up to 10 connections each, of 10"},
		{"too many connections", []string{cluster.URL("owner", "full_one"), "--database-connections", "400"}, "connections", "warning", "may need 400 connections, and PostgreSQL permits 297 (max_connections, 300 without the 3 that are reserved)"},
	} {
		s.args = append([]string{"--database"}, s.args...)
		s.test(t)
	}
	running := mailhostdtest.Serve(t, cluster.URL("owner", "full_one"))
	address := strings.TrimPrefix(running.URL, "http://")
	setup{"the running server", []string{"--database", cluster.URL("owner", "full_one"), "--listen", address}, "listen", "ok", "a mailhostd listens on"}.test(t)
	setup{"a server with another database", []string{"--database", cluster.URL("owner", "small"), "--listen", address}, "listen", "failed", "a mailhostd with another database"}.test(t)
	running.End(t)
	// The check of the database fails too, so that both say what is missing.
	_, stdout, _ := mailhostdtest.Run(t, "doctor", "--listen", "0", "--database", cluster.URL("Guest", "full_one"))
	assert.Check(t, is.Regexp(`"failed",\n *"detail": "the database's user may not read and write the tables addresses, .*; run there as its owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \\"public\\" TO \\"Guest\\"`, stdout))

	execute("full_one", `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "Guest"`, `REVOKE UPDATE ON server, authorization_version FROM "Guest"`)
	guest := []string{"--database", cluster.URL("Guest", "full_one")}
	setup{"rows that serve updates", guest, "permissions", "failed", "may not read and write the tables authorization_version, server;"}.test(t)
	execute("full_one", `GRANT UPDATE ON ALL TABLES IN SCHEMA public TO "Guest"`)
	setup{"a user without CREATE on a complete database", guest, "permissions", "ok", "the user may do what is needed"}.test(t)

	execute("full_one", `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM "Guest"`, fmt.Sprintf(`UPDATE mailhost_schema SET version = %d`, 1))
	for user, want := range map[string]string{"Guest": "may not read and write", "few": "the user may do"} {
		_, stdout, _ := mailhostdtest.Run(t, "doctor", "--listen", "0", "--database", cluster.URL(user, "full_one"))
		assert.Check(t, is.Contains(stdout, want))
	}
	execute("full_one", `GRANT ALL ON ALL TABLES IN SCHEMA public TO "Guest"`)
	_, stdout, _ = mailhostdtest.Run(t, "doctor", "--listen", "0", "--database", cluster.URL("Guest", "full_one"))
	assert.Check(t, is.Contains(stdout, "does not own the tables, whose schema this version of mailhostd must upgrade"))
}
