package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

type DoctorCommand struct {
	settings
	cli.OutputFlags
}

func (DoctorCommand) Help() string {
	return "It takes the flags and variables of mailhostd serve; run it in the server's environment and as its user. It changes nothing, sends no message and can run beside the server. The exit code is 1 if a check fails; warnings don't count."
}

// Validate is called by kong. It returns nil, because an invalid setting is a failed check.
func (DoctorCommand) Validate() error { return nil }

// The states of a check.
const (
	checkOK      = "ok"
	checkWarning = "warning"
	checkFailed  = "failed"
	checkSkipped = "skipped"
)

type check struct {
	Name  string `json:"check"`
	State string `json:"state"`
	// Detail is the result, and the next step.
	Detail string `json:"detail"`
}

func found(state, format string, args ...any) check {
	return check{State: state, Detail: fmt.Sprintf(format, args...)}
}

const checkTimeout = 15 * time.Second

func (c DoctorCommand) Run(ctx context.Context, p cli.Program, app *kong.Kong) error {
	checks := []struct {
		name string
		run  func(context.Context) check
	}{
		{"configuration", func(context.Context) check { return c.checkConfiguration(p, app) }}, {"database", c.checkDatabase}, {"connections", c.checkConnections},
		{"permissions", c.checkPermissions}, {"disk", c.checkDisk}, {"listen", c.checkListen}, {"tls", c.checkTLS}, {"public url", c.checkPublicURL}, {"smtp", c.checkSMTP},
		{"oauth issuer", c.checkIssuer}, {"traces", func(ctx context.Context) check { return c.checkTraces(ctx, p) }}, {"clock", c.checkClock},
	}
	var results []check
	var failed []string
	rows := [][]string{{"CHECK", "STATE", "DETAIL"}} // the detail may be long, so it is the last column
	for _, one := range checks {
		limit, cancel := context.WithTimeout(ctx, checkTimeout)
		result := one.run(limit)
		cancel()
		if result.Name = one.name; result.State == checkFailed {
			failed = append(failed, one.name)
		}
		results = append(results, result)
		rows = append(rows, []string{result.Name, result.State, result.Detail})
	}
	if err := c.PrintTable(p, results, "", rows); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%s failed: %s", cli.Counted(len(failed), "check"), strings.Join(failed, ", "))
	}
	return nil
}

func (c DoctorCommand) checkConfiguration(p cli.Program, app *kong.Kong) check {
	if err := c.settings.Validate(); err != nil {
		return found(checkFailed, "%s", err)
	}
	if unknown := unknownVariables(p, app); len(unknown) > 0 {
		return found(checkWarning, "no setting has the variable %s; mailhostd serve --help lists those that exist", strings.Join(unknown, ", "))
	}
	if _, err := c.readFixture(); err != nil {
		return found(checkFailed, "%s", err)
	}
	if c.SMTPURL == "" {
		return found(checkWarning, "valid; without --smtp-url no forwarding to other accounts can be verified")
	}
	return found(checkOK, "valid")
}

// unknownVariables returns variables that look like settings but are not, probably misspelt ones.
func unknownVariables(p cli.Program, app *kong.Kong) []string {
	known := map[string]bool{}
	_ = kong.Visit(app.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known[cli.VariableOf(flag.Value)] = true
		}
		return next(nil)
	})
	names := slices.Sorted(maps.Keys(cli.Variables(p.Environ)))
	return slices.DeleteFunc(names, func(name string) bool { return known[name] || !strings.HasPrefix(name, "MAILHOSTD_") })
}

func (c DoctorCommand) checkDatabase(ctx context.Context) check {
	db, err := cli.OpenDatabase(ctx, c.Database, cli.OpenOptions{ReadOnly: true, Memory: true})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found(checkWarning, "%s does not exist; create it with mailhostd init --database %s", c.Database, c.Database)
	case errors.Is(err, sqlstore.ErrNoStore):
		return found(checkWarning, "%s is empty; create an account with mailhostd init", cli.RedactDatabase(c.Database))
	case errors.Is(err, sqlstore.ErrOlderSchema):
		return found(checkWarning, "an older version wrote %s; back it up, because mailhostd serve migrates it", cli.RedactDatabase(c.Database))
	case err != nil:
		return found(checkFailed, "%s", err)
	}
	accounts, err := store.Read(ctx, db, store.Reader.Accounts)
	if err = errors.Join(cmp.Or(err, db.Ping(ctx)), db.Close()); err != nil {
		return found(checkFailed, "%s", err)
	}
	if path := c.databaseFile(); path != "" {
		err := sqlite.CheckPages(ctx, path)
		if errors.Is(err, context.DeadlineExceeded) {
			return found(checkWarning, "%s is too large to check each page within %s; mailhostd backup reads them all", path, checkTimeout)
		}
		if err != nil {
			return found(checkFailed, "%s", err)
		}
	}
	if len(accounts) == 0 {
		return found(checkWarning, "%s has no account yet; create one with mailhostd init", cli.RedactDatabase(c.Database))
	}
	return found(checkOK, "%s, %s, %s", cli.RedactDatabase(c.Database), cli.Counted(len(accounts), "account"), c.describeSchema(ctx))
}

// checkPermissions checks the user's rights in a database server, and the files of a database and of the certificate.
func (c DoctorCommand) checkPermissions(ctx context.Context) check {
	server, err := cli.InspectServer(ctx, c.Database)
	switch {
	case err != nil: // a failed check of the database
		return found(checkSkipped, "the database server can't be asked: %s", err)
	case server != nil && server.Lacking != "":
		return found(checkFailed, "the database's user %s; run there as its owner: %s", server.Lacking, server.Grant)
	case server == nil && c.databaseFile() == "" && c.TLSKey == "":
		return found(checkSkipped, "neither the database nor a key is a file of this machine")
	}
	var problems []string
	for _, path := range []string{c.databaseFile(), c.TLSKey} {
		if info, err := os.Stat(path); path != "" && err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
			problems = append(problems, fmt.Sprintf("every user of this machine can open %s (mode %04o): chmod o= %s", path, info.Mode().Perm(), path))
		}
	}
	if path := c.databaseFile(); path != "" {
		// SQLite creates its log in the same folder.
		probe, err := os.CreateTemp(filepath.Dir(path), ".doctor-*")
		if err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
		if err != nil {
			return found(checkFailed, "the folder of %s can't be written by this user: %s", path, err)
		}
		if file, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			_ = file.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return found(checkFailed, "the database can't be written by this user: %s", err)
		}
	}
	if problems != nil {
		return found(checkWarning, "%s", strings.Join(problems, "; "))
	}
	return found(checkOK, "%s", map[bool]string{true: "the files are writable, and closed to others", false: "the user may do what is needed"}[c.databaseFile() != ""])
}

// databaseFile returns the path of an SQLite file, or "".
func (c DoctorCommand) databaseFile() string {
	if cli.Scheme(c.Database) != "" || c.Database == sqlite.Memory {
		return ""
	}
	return c.Database
}

// lowDisk is the free space to recommend, in bytes: SQLite's log and a backup take as much again as the database.
const lowDisk = 1 << 30

// fullDisk is the free space to require, in bytes: the log alone may take it before it is truncated.
const fullDisk = 64 << 20

func (c DoctorCommand) checkDisk(context.Context) check {
	path := c.databaseFile()
	if path == "" {
		return found(checkSkipped, "the database is not a file of this machine")
	}
	free, known := freeSpace(filepath.Dir(path))
	if !known {
		return found(checkSkipped, "the free space can't be found out on this system")
	}
	needed := int64(lowDisk)
	if info, err := os.Stat(path); err == nil {
		needed = max(needed, 2*info.Size())
	}
	return describeSpace(free, needed)
}

// describeSpace compares the free and the needed space, in bytes.
func describeSpace(free uint64, needed int64) check {
	state := checkOK
	switch {
	case free < fullDisk:
		return found(checkFailed, "%d MiB free: the disk is full, and changes can't be kept; free at least %d MiB", free>>20, needed>>20)
	case free < uint64(needed):
		state = checkWarning
	}
	return found(state, "%d MiB free; %d MiB are enough for the log and a backup", free>>20, needed>>20)
}

// renewBefore is the time before its expiry at which a certificate should be renewed.
const renewBefore = 14 * 24 * time.Hour

func (c DoctorCommand) checkTLS(context.Context) check {
	cert, err := c.openCertificate(slog.New(slog.DiscardHandler))
	switch {
	case err != nil:
		return found(checkFailed, "%s; set the two files of one certificate", err)
	case cert == nil && !isLocal(loopbackForPort(c.Listen)):
		return found(checkWarning, "tokens are sent over plain HTTP; set --tls-cert, or make the address reachable only for a TLS proxy")
	case cert == nil:
		return found(checkSkipped, "plain HTTP on this machine")
	}
	leaf := cert.Leaf()
	if err := cert.CheckChain(time.Now()); err != nil {
		return found(checkFailed, "%s; until then clients refuse it", err)
	}
	validity := "the certificate is valid until " + leaf.NotAfter.UTC().Format(time.RFC3339)
	var problems []string
	if time.Until(leaf.NotAfter) < renewBefore {
		problems = append(problems, validity+"; renew it")
	}
	if public, err := url.Parse(c.PublicURL); err == nil && public.Hostname() != "" {
		if err := leaf.VerifyHostname(public.Hostname()); err != nil {
			problems = append(problems, fmt.Sprintf("the certificate does not have the name of --public-url: %s", err))
		}
	}
	if problems != nil {
		return found(checkWarning, "%s", strings.Join(problems, "; "))
	}
	if !cert.KnownHere() {
		validity += "; this machine does not know its authority: if that is a public one, add its intermediate certificates to --tls-cert, otherwise set SSL_CERT_FILE for clients"
	}
	return found(checkOK, "%s", validity)
}

func (c DoctorCommand) checkSMTP(ctx context.Context) check {
	m, err := c.mailer(c.PublicURL)
	switch {
	case err != nil:
		return found(checkFailed, "%s", err)
	case m == nil:
		return found(checkSkipped, "there is no --smtp-url")
	}
	if err := m.Check(ctx); err != nil {
		return found(checkFailed, "%s", err)
	}
	return found(checkOK, "%s accepts messages from %s", m.Server(), m.From())
}

func (c DoctorCommand) checkIssuer(ctx context.Context) check {
	all, err := c.verifiers(nil, nil)
	if err != nil {
		return found(checkFailed, "%s", err)
	}
	var details, warnings []string
	for _, v := range all {
		keys, err := v.Check(ctx)
		if err != nil {
			return found(checkFailed, "%s: %s", v.Issuer(), err)
		}
		details = append(details, v.Issuer()+" has "+cli.Counted(keys, "key"))
	}
	if warning := c.missingPublicURL(); warning != "" && all != nil {
		warnings = append(warnings, warning)
	}
	unknown, err := c.unknownWorkloads(ctx, all)
	if err != nil {
		return found(checkFailed, "%s", err)
	}
	if unknown != "" {
		warnings = append(warnings, unknown)
	}
	details = append(details, warnings...)
	switch {
	case details == nil:
		return found(checkSkipped, "there is no --oauth-issuer and no --trust")
	case warnings != nil:
		return found(checkWarning, "%s", strings.Join(details, "; "))
	}
	return found(checkOK, "%s", strings.Join(details, "; "))
}
