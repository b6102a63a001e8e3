package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

type RestoreCommand struct {
	Backup      string `arg:"" help:"Backup to restore, as mailhostd backup wrote it."`
	Database    string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file to replace. No server may use it. Default: ${default}."`
	RevokeAgain bool   `default:"true" negatable:"" variable:"-" help:"Revoke again what was revoked or deleted since the backup: tokens, grants and master passwords. --no-revoke-again lets them work again."`
	DryRun      bool   `variable:"-" help:"Only print what would change."`
	Yes         bool   `variable:"-" help:"Don't ask."`
	Force       bool   `variable:"-" help:"Restore although there is no database, or it can't be read, so that nothing can be compared or revoked again."`
	cli.OutputFlags
}

func (RestoreCommand) Help() string {
	return `Stop the server first. The command prints how many objects the database and the backup have, and what was revoked since the backup, and asks before it replaces the database. The database is not deleted: it is renamed, with its audit log.

A backup knows nothing of what was revoked since. With --no-revoke-again, a token that was revoked because it leaked works again.

Examples:
  mailhostd restore backup.db --dry-run
  mailhostd restore backup.db --yes

Restore PostgreSQL with its own tool, pg_restore.`
}

type restoreReport struct {
	Database string `json:"database"`
	Backup   string `json:"backup"`
	// Restored is false for a dry run.
	Restored bool `json:"restored"`
	// Previous is the new path of the replaced database.
	Previous string `json:"previous,omitempty"`
	// Unreadable is the reason for a missing comparison.
	Unreadable string              `json:"unreadable,omitempty"`
	Accounts   []accountComparison `json:"accounts"`
	// RevokedAgain is the number of credentials and grants that were revoked again.
	RevokedAgain int `json:"revoked_again"`
}

// reviving returns the number of credentials and grants that the backup makes work again.
func (r restoreReport) reviving() (n int) {
	for _, a := range r.Accounts {
		n += len(a.Revived)
	}
	return n
}

func (c RestoreCommand) Run(ctx context.Context, p cli.Program) (err error) {
	for _, database := range []string{c.Database, c.Backup} {
		if s := cli.Scheme(database); s != "" {
			return fmt.Errorf("%s:// can't be restored; restore PostgreSQL with its own tool into an empty database, pg_restore --dbname=URL FILE. "+
				"Before a server uses it, revoke there what was revoked since the backup, as mailhostd audit of the old database lists it", s)
		}
	}
	if isSameFile(c.Database, c.Backup) {
		return errors.New("the backup is the database itself")
	}
	path, err := filepath.EvalSymlinks(c.Database)
	if errors.Is(err, fs.ErrNotExist) {
		path, err = c.Database, nil
	}
	if err != nil {
		return fmt.Errorf("--database: %w", err)
	}
	report := restoreReport{Database: c.Database, Backup: c.Backup, Accounts: []accountComparison{}}

	current, err := c.openCurrent(ctx, p, path, &report)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".restore-*") // on the file system of the database
	if err != nil {
		return fmt.Errorf("the folder of %s can't be written: %w", c.Database, err)
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, "mailhost.db")
	if err := sqlite.BackupFile(ctx, c.Backup, copied); err != nil {
		return fmt.Errorf("the backup can't be copied: %w", err)
	}
	restored, err := cli.OpenService(ctx, p, copied, cli.OpenOptions{})
	if err != nil {
		return fmt.Errorf("the backup: %s", strings.ReplaceAll(err.Error(), copied, c.Backup)) // an error of the copy concerns the backup
	}
	defer restored.Close() // before its folder is removed
	if current != nil {
		accounts, err := compareServices(ctx, current, restored)
		if err := c.noteUnreadable(ctx, err, &report); err != nil {
			return err
		}
		report.Accounts = append(report.Accounts, accounts...)
	}
	if c.DryRun {
		return c.Print(p, report, report.write)
	}
	if err := c.confirm(ctx, p, report); err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	if c.RevokeAgain {
		err = revokeAgain(ctx, restored, report.Accounts)
		report.RevokedAgain = report.reviving()
	}
	if err == nil {
		err = restored.LogRestore(ctx, cli.SystemUser())
	}
	if err = errors.Join(err, restored.Close()); err == nil {
		err = errors.Join(sqlite.CheckPages(ctx, copied), ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	// Release the lock after the rename, so that a waiting server opens the restored file. Windows can't
	// rename an open file, so release the lock first there.
	if runtime.GOOS == "windows" && current != nil {
		if err := current.Close(); err != nil {
			return fmt.Errorf("nothing was restored: %w", err)
		}
	}
	if report.Previous, err = replaceDatabase(path, copied); err != nil {
		return err
	}
	report.Restored = true
	if !c.AsJSON(p) && !c.Yes { // the question showed them already
		report.Accounts = nil
	}
	return c.Print(p, report, report.write)
}

// openCurrent opens the database to replace, and keeps servers and commands out until this command ends.
// A dry run only reads the database: it does not migrate its schema, and a server may run. With --force,
// openCurrent returns nil for a missing or unreadable database.
func (c RestoreCommand) openCurrent(ctx context.Context, p cli.Program, path string, report *restoreReport) (*apiserver.Service, error) {
	service, err := cli.OpenService(ctx, p, path, cli.OpenOptions{Exclusive: !c.DryRun, ReadOnly: c.DryRun})
	if errors.Is(err, store.ErrInUse) {
		return nil, fmt.Errorf("%s is in use; stop the server, and try again (%w)", c.Database, err)
	}
	return service, c.noteUnreadable(ctx, err, report)
}

// noteUnreadable adds an error of the current database to the report, or returns it without --force.
func (c RestoreCommand) noteUnreadable(ctx context.Context, err error, report *restoreReport) error {
	switch {
	case err == nil, ctx.Err() != nil, c.Database == sqlite.Memory:
		return err
	case errors.Is(err, sqlstore.ErrOlderSchema): // a restore upgrades the schema before the comparison
		return fmt.Errorf("a dry run upgrades no schema; use the version of mailhostd that wrote the database (%w)", err)
	case !c.Force:
		return fmt.Errorf("%w; name the database with --database, or add --force to restore the backup without a comparison. "+
			"What was revoked since the backup then works again: check the tokens with mailhostd token list before you start the server", err)
	}
	report.Unreadable = err.Error()
	return nil
}

// confirm asks before the database is replaced. The end of the input and a signal are errors.
func (c RestoreCommand) confirm(ctx context.Context, p cli.Program, report restoreReport) error {
	if c.Yes {
		return nil
	}
	report.write(p.Stderr)
	consequence := ""
	if report.reviving() > 0 {
		consequence = ", and let what was revoked since work again"
		if c.RevokeAgain {
			consequence = ", and revoke again what was revoked since"
		}
	}
	return ask(ctx, p, fmt.Sprintf("Replace %s%s?", c.Database, consequence))
}

// ask returns an error unless somebody at the terminal says yes.
func ask(ctx context.Context, p cli.Program, question string) error {
	if !cli.IsTerminal(p.Stdin) || !cli.IsTerminal(p.Stderr) {
		return cli.UsageError("confirm with --yes")
	}
	fmt.Fprintf(p.Stderr, "%s [y/N] ", question)
	line, err := readLine(ctx, p.Stdin)
	if err != nil {
		fmt.Fprintln(p.Stderr)
		return err
	}
	if reply := strings.ToLower(strings.TrimSpace(line)); reply != "y" && reply != "yes" {
		return errors.New("it was not confirmed")
	}
	return nil
}

// readLine returns an error at the end of the input, or if the context ends first.
func readLine(ctx context.Context, from io.Reader) (string, error) {
	var line string
	var err error
	done := make(chan struct{})
	go func() {
		line, err = bufio.NewReader(from).ReadString('\n')
		close(done)
	}()
	select {
	case <-ctx.Done():
		return "", errors.New("the command was interrupted")
	case <-done:
	}
	if errors.Is(err, io.EOF) {
		return "", errors.New("the input ended")
	}
	return line, err
}

func revokeAgain(ctx context.Context, restored *apiserver.Service, accounts []accountComparison) error {
	for _, a := range accounts {
		c := cli.OperatorClient(restored, a.AccountID)
		for _, o := range a.Revived {
			var err error
			switch o.Type {
			case tokenType:
				_, err = apiclient.Call(ctx, c, api.RevokeServiceAccount, &api.ServiceAccountRequest{ServiceAccountID: o.ID})
			case grantType:
				_, err = apiclient.Call(ctx, c, api.RevokeAuthorization, &api.AuthorizationRequest{AuthorizationID: o.ID})
			case masterPasswordType:
				_, err = apiclient.Call(ctx, c, api.DeleteMasterPassword, &api.MasterPasswordRequest{CredentialID: o.ID})
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", o.Type, o.ID, err)
			}
		}
	}
	return nil
}

// replaceDatabase renames a database with its log and shared memory, and moves the database with to its
// path, with the same owner and mode. It returns the new path of the old database, or "" if there was
// none.
func replaceDatabase(path, with string) (previous string, err error) {
	info, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
	case err != nil:
		return "", err
	default:
		if err := errors.Join(os.Chmod(with, info.Mode().Perm()), chown(with, info)); err != nil {
			return "", fmt.Errorf("nothing was restored: the backup can't get the owner and the mode of %s: %w", path, err)
		}
	}
	previous = newName(fmt.Sprintf("%s.before-restore-%s", path, time.Now().UTC().Format("20060102T150405")))
	// With a link, a database exists at the path at any time; otherwise a server might create one.
	if !missing && os.Link(path, previous) != nil {
		if err := os.Rename(path, previous); errors.Is(err, syscall.EBUSY) {
			return "", fmt.Errorf("nothing was restored: %s can't be replaced, because it is a mount of its own, as of a single file in a container; mount its folder instead, or restore where the file is no mount: %w", path, err)
		} else if err != nil {
			return "", fmt.Errorf("nothing was restored: %w", err)
		}
	}
	// Rename the database's log too, even without the database: otherwise it would be taken for the log
	// of the backup. An empty log belongs to the lock.
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() == 0 {
		if err := os.Remove(path + "-wal"); err != nil {
			return "", err
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, previous+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	if missing {
		return "", os.Rename(with, path)
	}
	if err := os.Rename(with, path); err != nil {
		return "", fmt.Errorf("the database is now %s, and the backup can't take its place: %w", previous, err)
	}
	return previous, nil
}

// newName returns a path at which no file exists: the path itself, or with a number.
func newName(path string) string {
	name := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d", path, n)
	}
}

func (r restoreReport) write(w io.Writer) {
	if r.Unreadable != "" {
		fmt.Fprintf(w, "%s can't be read, so that nothing was compared, and what was revoked since the backup works again: %s.\n", r.Database, r.Unreadable)
	}
	for _, a := range r.Accounts {
		a.write(w)
	}
	switch {
	case !r.Restored:
	case r.RevokedAgain > 0:
		fmt.Fprintf(w, "%s was restored, and %d of what was revoked since the backup revoked again.\n", r.Database, r.RevokedAgain)
	default:
		fmt.Fprintf(w, "%s was restored.\n", r.Database)
	}
	if r.Restored && r.Previous != "" {
		fmt.Fprintf(w, "The database before is %s; remove it when nobody needs it.\n", r.Previous)
	}
}
