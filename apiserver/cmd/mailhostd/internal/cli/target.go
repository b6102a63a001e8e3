package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// This file connects commands to an account: in a database, in this process, or over HTTP. In all cases
// they call the API's operations. In a database they call them as its operator, whom no grant restricts,
// see Service.OperatorClient.

const (
	// DefaultDatabase is used if no database is named.
	DefaultDatabase = "mailhost.db"
	// TokenVariable is the environment variable for the token over HTTP.
	TokenVariable   = "MAILHOST_TOKEN"
	baseURLVariable = "MAILHOST_BASE_URL"
)

// DatabaseFlags choose an existing database.
type DatabaseFlags struct {
	Database string `placeholder:"FILE" help:"SQLite file or postgres:// URL to work on directly, also while servers use it. You have all rights then, and the audit log says so. Default: mailhost.db."`
}

func (f DatabaseFlags) Path() string { return cmp.Or(f.Database, DefaultDatabase) }

// ProvideService opens the database as a service in this process, for a command with a service as argument of Run.
func (f DatabaseFlags) ProvideService(ctx context.Context, p Program) (*apiserver.Service, error) {
	return f.openService(ctx, p, OpenOptions{})
}

// ReadService is the service of a command that only reads: its database may be unwritable.
type ReadService struct{ *apiserver.Service }

// ProvideReadService is ProvideService for a command with a ReadService as argument of Run.
func (f DatabaseFlags) ProvideReadService(ctx context.Context, p Program) (ReadService, error) {
	service, err := f.openService(ctx, p, OpenOptions{ReadOnly: true})
	return ReadService{service}, err
}

// openService opens an existing database. It upgrades an older schema also for a command that only reads.
func (f DatabaseFlags) openService(ctx context.Context, p Program, o OpenOptions) (*apiserver.Service, error) {
	path := f.Path()
	if err := RequireExisting(path); err != nil {
		return nil, err
	}
	service, err := OpenService(ctx, p, path, o)
	older := errors.Is(err, sqlstore.ErrOlderSchema)
	if !older && !errors.Is(err, sqlstore.ErrNoStore) {
		return service, err
	}
	service, failed := OpenService(ctx, p, path, OpenOptions{})
	if failed != nil && older {
		return nil, fmt.Errorf("an older version of mailhostd wrote the database, and its schema can't be upgraded; use that version, or a copy that you may write: %w", failed)
	}
	return service, failed
}

// RequireExisting returns an error for a file that does not exist.
func RequireExisting(database string) error {
	if database == sqlite.Memory {
		return errMemory
	}
	if _, err := os.Stat(database); Scheme(database) == "" && database != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no database %s; name one with --database, or create it with mailhostd init", database)
	}
	return nil
}

// OpenService opens a database, and creates a missing one. The database is closed when the command ends.
func OpenService(ctx context.Context, p Program, database string, o OpenOptions) (*apiserver.Service, error) {
	db, err := OpenDatabase(ctx, database, o)
	if err != nil {
		return nil, err
	}
	// Log to stderr, because the API's error does not contain the database's error, such as a full disk.
	log := slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	service, err := apiserver.New(apiserver.Options{Store: db, Logger: log})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	p.CloseLater(service)
	return service, nil
}

func OperatorClient(service *apiserver.Service, accountID string) *apiclient.Client {
	return &apiclient.Client{AccountID: accountID, HTTP: service.OperatorClient(accountID, SystemUser())}
}

// SystemUser returns the name of the user who runs the program, for the audit log, or "".
func SystemUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

// TargetFlags choose an account, and the way to reach it. A command with another default account sets
// the variable in the help text.
type TargetFlags struct {
	DatabaseFlags
	BaseURL   string `name:"base-url" placeholder:"URL" variable:"MAILHOST_BASE_URL" help:"URL of the API, to work over HTTP instead, with the rights of the token in $$MAILHOST_TOKEN."`
	AccountID ID     `placeholder:"UUID" variable:"MAILHOST_ACCOUNT_ID" help:"Id of the account. Default: ${account=the only one of the database}."`
}

// ID is a canonical UUID, or "" for a flag that was not set.
type ID string

func (id *ID) UnmarshalText(text []byte) error {
	*id = ID(api.CanonicalID(string(text)))
	if !api.IsID(string(text)) {
		return fmt.Errorf("%.64q is not a UUID", text)
	}
	return nil
}

// Target is the account that a command works on.
type Target struct {
	*apiclient.Client
	// Name is the database or the URL, for messages.
	Name string
}

// ProvideTarget opens the account, for a command with a *Target as argument of Run. A database is closed
// when the command ends.
func (f TargetFlags) ProvideTarget(ctx context.Context, p Program) (*Target, error) {
	return f.OpenTarget(ctx, p, OpenOptions{})
}

// ReadTarget is the account of a command that only reads: its database may be unwritable.
type ReadTarget struct{ *Target }

// ProvideReadTarget is ProvideTarget for a command with a ReadTarget as argument of Run.
func (f TargetFlags) ProvideReadTarget(ctx context.Context, p Program) (ReadTarget, error) {
	t, err := f.OpenTarget(ctx, p, OpenOptions{ReadOnly: true})
	return ReadTarget{t}, err
}

// OpenTarget is ProvideTarget for a command that knows only later whether it only reads.
func (f TargetFlags) OpenTarget(ctx context.Context, p Program, o OpenOptions) (*Target, error) {
	remote, err := f.IsRemote(p)
	switch {
	case err != nil:
		return nil, err
	case remote:
		return f.OpenRemote(p)
	}
	service, err := f.openService(ctx, p, o)
	if err != nil {
		return nil, err
	}
	id, err := accountIn(ctx, service, string(f.AccountID))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", RedactDatabase(f.Path()), err)
	}
	return &Target{OperatorClient(service, id), RedactDatabase(f.Path())}, nil
}

// IsRemote reports whether to work over HTTP. A flag takes precedence over the other target's variable.
func (f TargetFlags) IsRemote(p Program) (bool, error) {
	if f.BaseURL == "" || f.Database == "" {
		return f.BaseURL != "", nil
	}
	urlIsFlag := f.BaseURL != p.variable(baseURLVariable)
	databaseIsFlag := f.Database != p.variable(variable("database"))
	if urlIsFlag == databaseIsFlag {
		return false, UsageError("--base-url and --database exclude each other, and so do %s and %s; a flag has precedence over a variable", baseURLVariable, variable("database"))
	}
	return urlIsFlag, nil
}

func (f TargetFlags) OpenRemote(p Program) (*Target, error) {
	if err := CheckURL("--base-url", f.BaseURL); err != nil {
		return nil, UsageError("%w", err)
	}
	if before, _, ok := strings.Cut(f.BaseURL, "/v1/public"); ok {
		return nil, UsageError("--base-url: leave out /v1/public, which each request adds: %s", before)
	}
	token := p.variable(TokenVariable)
	switch {
	case f.AccountID == "":
		return nil, UsageError("--account-id: is required over HTTP; $MAILHOST_ACCOUNT_ID sets it too")
	case token == "":
		return nil, UsageError("set %s to the token of a service account, or an access token; or work on the database with --database", TokenVariable)
	}
	return &Target{
		Client: &apiclient.Client{AccountID: string(f.AccountID), Token: token, URL: f.BaseURL, HTTP: apiclient.NewHTTP()},
		Name:   f.BaseURL,
	}, nil
}

// CheckURL returns an error if a flag is set to anything but the URL of a server.
func CheckURL(flag, text string) error {
	u, err := url.Parse(text)
	if text != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "") {
		return fmt.Errorf("%s: must be an http or https URL without a password or a query, for instance https://mail.example.com", flag)
	}
	return nil
}

// accountIn returns the id of an existing account, or of the only account if id is empty.
func accountIn(ctx context.Context, service *apiserver.Service, id string) (string, error) {
	ids, err := service.Accounts(ctx)
	if err != nil {
		return "", fmt.Errorf("the accounts can't be read: %w", err)
	}
	if id != "" {
		if slices.Contains(ids, id) {
			return id, nil
		}
		return "", fmt.Errorf("there is no account %s; mailhostd account list shows those that exist", id)
	}
	switch len(ids) {
	case 0:
		return "", errors.New("there is no account yet; create one with mailhostd init")
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("there are several accounts; choose one with --account-id: %s", strings.Join(ids, ", "))
}
