package commands_test

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

func TestInit(t *testing.T) {
	t.Parallel()
	database, first := mailhostdtest.Initialize(t)
	if first.WorkspaceID != api.DefaultWorkspaceID(first.AccountID) || !strings.HasPrefix(first.Token, "mhsa_") {
		t.Errorf("init printed %+v", first)
	}
	code, stdout, stderr := mailhostdtest.Run(t, "init", "--database", database)
	var second mailhostdtest.Account
	if err := json.Unmarshal([]byte(stdout), &second); code != cli.ExitOK || err != nil || second.AccountID == first.AccountID {
		t.Errorf("init without an id does not create another account: exit code %d, stdout %q, error %v", code, stdout, err)
	}
	if want := "mailhostd: " + database + " had 1 account already, and " + second.AccountID + " is another one. List them with: mailhostd account list --database " + database + "\n"; stderr != want {
		t.Errorf("init without an id printed %q; want %q", stderr, want)
	}
	const chosen = "3B9F4D5E-6D0C-4B7E-9A53-3F1C2D8E7A10"
	var third mailhostdtest.Account
	code, stdout, stderr = mailhostdtest.Run(t, "init", "--database", database, "--account-id", chosen)
	if err := json.Unmarshal([]byte(stdout), &third); code != cli.ExitOK || err != nil || stderr != "" || third.AccountID != strings.ToLower(chosen) {
		t.Errorf("init with an id: exit code %d, stdout %q, stderr %q, error %v", code, stdout, stderr, err)
	}
	code, stdout, stderr = mailhostdtest.Run(t, "init", "--database", database, "--account-id", chosen)
	want := "mailhostd: " + database + " has the account " + third.AccountID + " already, with a service account that works; nothing was changed. " +
		"Use its token, or create another one: mailhostd token create NAME --database " + database + " --account-id " + third.AccountID + "\n"
	if code != cli.ExitFailure || stdout != "" || stderr != want {
		t.Errorf("a second init: exit code %d, stdout %q, stderr\n%s", code, stdout, stderr)
	}
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      []string
		lifecycle bool
	}{{[]string{"openapi"}, true}, {[]string{"openapi", "--published-only"}, false}} {
		want, err := httpapi.Document(tt.lifecycle)
		if err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := mailhostdtest.Run(t, tt.args...); code != cli.ExitOK || stdout != string(want) || stderr != "" {
			t.Errorf("%v: exit code %d, %d bytes, stderr %q; want the %d bytes of the contract", tt.args, code, len(stdout), stderr, len(want))
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"--help", []string{"init", "serve", "audit", "migrate", "backup", "openapi"}},
		{"-h", []string{"Usage: mailhostd <command>"}},
		{"serve --help", []string{"--listen", "127.0.0.1:8080", "$MAILHOSTD_CONTROL_LISTEN", "--fixture"}},
		{"audit --help", []string{"--object", "$MAILHOSTD_SINCE", "24h"}},
		{"backup --help", []string{"--output", "mailhostd restore"}},
		{"init --help", []string{"--account-id", "$MAILHOSTD_DATABASE"}},
		{"--version", []string{"mailhostd "}},
	} {
		code, stdout, stderr := mailhostdtest.Run(t, strings.Fields(tt.args)...)
		if code != cli.ExitOK || stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q", tt.args, code, stderr)
		}
		for _, want := range tt.want {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s lacks %q:\n%s", tt.args, want, stdout)
			}
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "other.db")
	environ := []string{"MAILHOSTD_DATABASE=" + database, "MAILHOSTD_ACCOUNT_ID=", "MAILHOSTD_HELP=true", "MAILHOSTD_VERSION=true"}
	if code, _, stderr := mailhostdtest.RunWith(t, environ, "init"); code != cli.ExitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(database); err != nil {
		t.Error(err)
	}
	mailhostdtest.Fails(t, append(environ, "MAILHOSTD_ACCOUNT_ID=x"), cli.ExitUsage, "--account-id", "init")
	if code, stdout, _ := mailhostdtest.RunWith(t, []string{"MAILHOSTD_PUBLISHED_ONLY=true"}, "openapi"); code != cli.ExitOK || strings.Contains(stdout, `"x-lifecycle-extension": true`) {
		t.Errorf("exit code %d, and the document has lifecycle operations", code)
	}
	// A flag takes precedence over its environment variable.
	flag := filepath.Join(t.TempDir(), "flag.db")
	if code, _, stderr := mailhostdtest.RunWith(t, environ, "init", "--database", flag); code != cli.ExitOK {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	if _, err := os.Stat(flag); err != nil {
		t.Error(err)
	}
}

func TestErrorLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	address := taken.Addr().String()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	fixture := write("fixture.json", `{"accounts": [{"id": "x"}]}`)
	notes := write("notes.txt", "These are notes and no database, and long enough to have a header of one.\n")
	database := filepath.Join(dir, "a.db")

	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nothing", nil, cli.ExitUsage, `expected one of "init", "serve", "try", "openapi", "account", ...`},
		{"unknown flag", []string{"serve", "--port", "1"}, cli.ExitUsage, "unknown flag --port"},
		{"bad id", []string{"init", "--account-id", "x"}, cli.ExitUsage, `--account-id: "x" is not a UUID`},
		{"in memory", []string{"init", "--database", ":memory:"}, cli.ExitUsage, "gone at once"},
		{"bad duration", []string{"serve", "--shutdown-timeout", "soon"}, cli.ExitUsage, "--shutdown-timeout"},
		{"negative duration", []string{"serve", "--shutdown-timeout=-1s"}, cli.ExitUsage, "must not be negative"},
		{"bad format", []string{"serve", "--log-format", "xml"}, cli.ExitUsage, `--log-format must be one of "text","json"`},
		{"bad level", []string{"serve", "--log-level", "loud"}, cli.ExitUsage, "--log-level"},
		{"links that lead nowhere", []string{"serve", "--listen", "0.0.0.0:0", "--smtp-url", "smtp://mail.example.com", "--smtp-from", "a@example.com"}, cli.ExitUsage, "--public-url: is required with --smtp-url"},
		{"bad public URL", []string{"serve", "--public-url", "mail.example.com"}, cli.ExitUsage, "--public-url: must be an http or https URL"},
		{"bad time", []string{"audit", "--since", "yesterday"}, cli.ExitUsage, `--since: "yesterday" is neither a time such as 2026-03-14T15:00:00Z, nor a date such as 2026-03-14, nor a duration such as 24h or 7d`},
		{"time in the future", []string{"audit", "--since=-1h"}, cli.ExitUsage, `"-1h" is neither`},
		{"too many days", []string{"audit", "--since", "99999999d"}, cli.ExitUsage, `is neither`},
		{"no time between", []string{"audit", "--since", "1h", "--until", "2h"}, cli.ExitUsage, "--until: must be later than --since"},
		{"bad operation", []string{"audit", "--operation", "eat"}, cli.ExitUsage, `--operation: "eat" is unknown; it must be one of create-service-account, `},
		{"bad account", []string{"audit", "--account-id", "x"}, cli.ExitUsage, `--account-id: "x" is not a UUID`},
		{"bad limit", []string{"audit", "--limit=-1"}, cli.ExitUsage, "--limit: must not be negative"},
		{"bad form", []string{"audit", "--format", "xml"}, cli.ExitUsage, `--format must be one of "text","json"`},
		{"audit in memory", []string{"audit", "--database", ":memory:"}, cli.ExitUsage, "name a file"},
		{"audit of PostgreSQL", []string{"audit", "--database", "postgres://u:secret@127.0.0.1:1/mail"}, cli.ExitFailure, "the database can't be opened: PostgreSQL: "},
		{"port in use", []string{"serve", "--listen", address, "--database", database}, cli.ExitFailure, "--listen: can't listen on " + address + ": bind: address already in use"},
		{"control port in use", []string{"serve", "--listen", "127.0.0.1:0", "--control-listen", address, "--database", database}, cli.ExitFailure, "--control-listen: can't listen on"},
		{"no such port", []string{"serve", "--listen", "127.0.0.1:99999"}, cli.ExitFailure, "--listen: can't listen on 127.0.0.1:99999"},
		{"PostgreSQL", []string{"serve", "--listen", "127.0.0.1:0", "--database", "postgres://u:secret@127.0.0.1:1/mail"}, cli.ExitFailure, "connection refused"},
		{"invalid URL", []string{"init", "--database", "postgres://u:secret@127.0.0.1:port/mail"}, cli.ExitFailure, "the URL is malformed"},
		{"another server", []string{"serve", "--listen", "127.0.0.1:0", "--database", "mysql://u:secret@db/mail"}, cli.ExitFailure,
			"--database: this build can't open mysql://; it takes the path of an SQLite file or a postgres:// URL or a postgresql:// URL"},
		{"connections to a file", []string{"serve", "--database-connections", "5"}, cli.ExitUsage, "an SQLite file has none"},
		{"one connection", []string{"serve", "--database", "postgres://db/mail", "--database-connections", "1"}, cli.ExitUsage, "must be at least 2"},
		{"no directory", []string{"init", "--database", filepath.Join(dir, "none", "a.db")}, cli.ExitFailure, "directory does not exist"},
		{"a directory", []string{"init", "--database", dir}, cli.ExitFailure, "is a directory"},
		{"no path", []string{"init", "--database", ""}, cli.ExitFailure, "the path is empty; name a file"},
		{"a device", []string{"serve", "--listen", "127.0.0.1:0", "--database", os.DevNull}, cli.ExitFailure, "is not a regular file"},
		{"port in use by number", []string{"serve", "--listen", address[strings.LastIndex(address, ":")+1:], "--database", database}, cli.ExitFailure, "--listen: can't listen on " + address},
		{"no database", []string{"init", "--database", notes}, cli.ExitFailure, "it is not an SQLite database"},
		{"no fixture", []string{"serve", "--fixture", filepath.Join(dir, "none.json")}, cli.ExitFailure, "--fixture: open"},
		{"a limit without a duration", []string{"serve", "--rate-limit", "600"}, cli.ExitUsage, "--rate-limit"},
		{"a limit of nothing", []string{"serve", "--rate-limit", "0/1m"}, cli.ExitUsage, "--rate-limit"},
		{"a limit of the past", []string{"serve", "--rate-limit", "600/-1m"}, cli.ExitUsage, "--rate-limit"},
		{"negative mailboxes", []string{"serve", "--max-mailboxes=-1"}, cli.ExitUsage, "--max-mailboxes: must not be negative"},
		{"negative connections", []string{"serve", "--max-connections=-1"}, cli.ExitUsage, "--max-connections: must not be negative"},
		{"negative drain", []string{"serve", "--drain-delay=-1s"}, cli.ExitUsage, "--drain-delay: must not be negative"},
		{"bad collector", []string{"serve", "--otlp-endpoint", "collector:4317"}, cli.ExitUsage, "--otlp-endpoint: must be an http or https URL"},
		{"issuer without audience", []string{"serve", "--oauth-issuer", "https://login.example.com"}, cli.ExitUsage, "--oauth-audience: is required with --oauth-issuer"},
		{"audience without issuer", []string{"serve", "--oauth-audience", "mailhost"}, cli.ExitUsage, "--oauth-audience: needs --oauth-issuer"},
		{"issuer without TLS", []string{"serve", "--oauth-issuer", "http://login.example.com", "--oauth-audience", "mailhost"}, cli.ExitUsage, "--oauth-issuer: it must be an https URL"},
		{"issuer with a password", []string{"serve", "--oauth-issuer", "https://u:secret@login.example.com", "--oauth-audience", "mailhost"}, cli.ExitUsage, "--oauth-issuer: an issuer's URL must not have a user"},
		{"mail from nobody", []string{"serve", "--smtp-url", "smtp://user:secret@mail.example.com"}, cli.ExitUsage, "--smtp-from: is required with --smtp-url"},
		{"mail from no address", []string{"serve", "--smtp-url", "smtp://user:secret@mail.example.com", "--smtp-from", "Mailhost"}, cli.ExitUsage, "--smtp-from: must be an address"},
		{"mail to nowhere", []string{"serve", "--smtp-from", "a@example.com"}, cli.ExitUsage, "--smtp-from: needs --smtp-url"},
		{"no mail server", []string{"serve", "--smtp-url", "http://user:secret@mail.example.com", "--smtp-from", "a@example.com"}, cli.ExitUsage, "--smtp-url: must be smtp://"},
		{"certificate without key", []string{"serve", "--tls-cert", "a.pem"}, cli.ExitUsage, "--tls-cert and --tls-key: set both"},
		{"no certificate", []string{"serve", "--tls-cert", "none.pem", "--tls-key", notes, "--listen", "127.0.0.1:0", "--database", database}, cli.ExitFailure, "--tls-cert: open none.pem: no such file"},
		{"bad fixture", []string{"serve", "--fixture", fixture}, cli.ExitFailure, "fixture.json: accounts[0] (x): id: must be the account's UUID"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			mailhostdtest.Fails(t, nil, tt.code, tt.want, tt.args...)
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(database); err == nil {
			t.Error("an error left a new database behind")
		}
	})
}
