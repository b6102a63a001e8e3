package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	neturl "net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

const (
	// DefaultConnections is the default of Options.Connections.
	DefaultConnections = 16
	lockTimeout        = 10 * time.Second
	statementTimeout   = 30 * time.Second
	// acquireTimeout limits how long a view or an update waits for a connection, and then for
	// the result of BEGIN, which a pooler delays until one of its connections is free.
	acquireTimeout = 10 * time.Second
)

// Options are the settings of a store. The zero value is ready for use.
type Options struct {
	// Connections limits the number of connections, DefaultConnections by default, 2 at least.
	Connections int
	// LockTimeout limits how long a statement waits for locks, 10 seconds by default.
	LockTimeout time.Duration
	// ReadOnly opens an existing store and does not migrate it. Update returns store.ErrReadOnly.
	ReadOnly bool

	// migrations are those of another version, in tests.
	migrations fs.FS
}

// Open connects to the database of a postgres:// URL and migrates it to the current schema. For a
// later schema it returns store.ErrNewerSchema. No error contains the URL's password.
func Open(ctx context.Context, url string, opts Options) (*sqlstore.Store, error) {
	opts.Connections = max(cmp.Or(opts.Connections, DefaultConnections), 2)
	opts.LockTimeout = cmp.Or(opts.LockTimeout, lockTimeout)
	config, err := poolConfig(url, opts)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: %w", err)
	}
	d := dialect
	if opts.migrations != nil {
		d.Migrations, d.Own = opts.migrations, nil
	}
	e := &engine{pool: pool, opts: opts, dialect: &d, viewing: make(chan struct{}, max(1, opts.Connections*3/4))}
	for i := range e.queues {
		e.queues[i] = queue{make(chan struct{}, 1), make(chan *sqlstore.Turn[*transaction])}
	}
	if err := e.migrate(ctx); err != nil {
		pool.Close()
		return nil, openError(err)
	}
	return sqlstore.New(e, &d), nil
}

// modeParameter is the parameter of a URL that selects how pgx runs statements.
const modeParameter = "default_query_exec_mode"

// poolConfig returns the settings of the connections.
func poolConfig(url string, opts Options) (*pgxpool.Config, error) {
	// pgx's error for a malformed URL may contain a part of the password, also as the name of a host.
	if u, err := neturl.Parse(url); err != nil || u.Fragment != "" || strings.Count(url, "@") > 1 || strings.Contains(u.Path+u.RawQuery, "@") {
		return nil, errors.New("PostgreSQL: the URL is malformed; correct the port, or percent-encode special characters of the password (%40 for @), or leave it out and set PGPASSWORD")
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL: %w", err) // pgx redacts the password
	}
	config.MaxConns = int32(opts.Connections)
	config.MaxConnIdleTime = 5 * time.Minute
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "mailhostd"
	}
	if !strings.Contains(url, modeParameter) {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		config.AfterConnect = opts.prepareIfDirect
	}
	switch config.ConnConfig.DefaultQueryExecMode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		return nil, fmt.Errorf("PostgreSQL: results are not binary with %s=%s; use cache_describe, describe_exec or cache_statement", modeParameter, config.ConnConfig.DefaultQueryExecMode)
	}
	return config, nil
}

// prepareIfDirect lets a connection keep prepared statements and settings, unless it leads to a pooler,
// which may use another connection to the server for each transaction. A pooler invents the process
// id of a connection.
func (o Options) prepareIfDirect(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, acquireTimeout) // pgxpool sets none
	defer cancel()
	var pid uint32
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()::bigint`).Scan(&pid); err != nil {
		return err
	}
	if pid != conn.PgConn().PID() {
		return nil
	}
	conn.PgConn().CustomData()[directKey] = true
	_, err := conn.Exec(ctx, strings.TrimPrefix(strings.ReplaceAll(o.settings(), "SET LOCAL", "SET"), ";"), pgx.QueryExecModeSimpleProtocol)
	return err
}

// directKey marks the connections that keep prepared statements.
const directKey = "mailhost.direct"

func isDirect(conn *pgx.Conn) bool { return conn.PgConn().CustomData()[directKey] != nil }

// engine is PostgreSQL's sqlstore.Engine.
type engine struct {
	pool    *pgxpool.Pool
	opts    Options
	dialect *sqlstore.Dialect
	// viewing holds an element for each running view, so that some connections are left for updates.
	viewing chan struct{}

	// failures counts the updates that could not be kept since the last trial succeeded. Other updates
	// prove nothing: a small one still fits on a full disk.
	failures atomic.Int64

	closed atomic.Bool
	queues [256]queue
}

var _ sqlstore.Engine = (*engine)(nil)

// Close implements sqlstore.Engine. It waits for running transactions.
func (e *engine) Close() error {
	e.closed.Store(true)
	e.pool.Close()
	return nil
}
