package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

// note records that the database failed to keep an update, and returns the update's error.
func (e *engine) note(err error) error {
	if errors.Is(err, store.ErrUnavailable) {
		e.failures.Add(1)
	}
	return err
}

// Ping implements sqlstore.Engine. After a failed update it tries an update that it undoes, because
// a store that reports itself unready receives no other updates.
func (e *engine) Ping(ctx context.Context) error {
	readOnly, standby, reset, source, forbidden := false, false, "", "", ""
	if err := e.viewNow(ctx, func(ctx context.Context, q sqlstore.Querier) error {
		if err := e.dialect.Probe(ctx, q); err != nil {
			return err
		}
		return sqlstore.ScanRow(ctx, q, `SELECT s.setting::boolean, pg_is_in_recovery(), `+resetSetting+`, s.source,
			COALESCE((SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_catalog.pg_class WHERE oid = ANY (array(SELECT to_regclass(value)::oid FROM unnest(string_to_array($1, ',')) value))
				AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))), '')
			FROM pg_catalog.pg_settings s WHERE s.name = 'default_transaction_read_only'`,
			[]any{strings.Join(sqlstore.Tables(), ",")}, &readOnly, &standby, &reset, &source, &forbidden)
	}); err != nil {
		return err
	}
	if standby || readOnly {
		e.pool.Reset() // so that the next Ping reads the settings of a new connection
		if readOnly {
			source = ": the setting default_transaction_read_only is on, and its source is the " + source
			if reset != "" {
				source += "; run in the database `BEGIN READ WRITE; " + reset + "; COMMIT`"
			}
		} else {
			source = ""
		}
		return unavailable(fmt.Errorf("the server is a standby or read-only%s; name the primary, or add target_session_attrs=read-write to a URL with several hosts", source))
	}
	if forbidden != "" {
		return unavailable(fmt.Errorf("the user may not read and write %s; grant it SELECT, INSERT, UPDATE and DELETE", forbidden))
	}
	if failures := e.failures.Load(); failures > 0 {
		if err := e.tryToWrite(ctx); !errors.Is(err, errUndo) {
			return err
		}
		e.failures.CompareAndSwap(failures, 0) // unless another update failed meanwhile
	}
	return nil
}

var errUndo = errors.New("a trial that is undone")

// tryToWrite writes more rows than most requests, so that they don't fit into the free space of
// a table, and undoes the write. The rows occupy disk space until PostgreSQL's next vacuum, so it
// writes no more than needed.
func (e *engine) tryToWrite(ctx context.Context) error {
	content := make([]byte, 1000)
	_, _ = rand.Read(content) // it never fails
	return e.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error {
		if _, err := q.ExecContext(ctx, `INSERT INTO token_buckets (name, full_at) SELECT n || $1, 0 FROM generate_series(1, 50) n`, hex.EncodeToString(content)); err != nil {
			return err
		}
		return errUndo
	})
}

// ClockOffset implements sqlstore.Engine. The server read its clock about half a round trip ago.
func (e *engine) ClockOffset(ctx context.Context) (offset time.Duration, err error) {
	err = e.viewNow(ctx, func(ctx context.Context, q sqlstore.Querier) error {
		var now int64
		begun := time.Now()
		if err := sqlstore.ScanRow(ctx, q, `SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint`, nil, &now); err != nil {
			return err
		}
		offset = time.UnixMicro(now).Sub(begun.Add(time.Since(begun) / 2))
		return nil
	})
	return offset, err
}

// Usage implements sqlstore.Engine.
func (e *engine) Usage(ctx context.Context) (u store.Usage, err error) {
	pool := e.pool.Stat()
	u.Connections, u.MaxConnections = int(pool.AcquiredConns()), int(pool.MaxConns())
	err = e.viewNow(ctx, func(ctx context.Context, q sqlstore.Querier) error {
		return sqlstore.ScanRow(ctx, q, `SELECT pg_database_size(current_database())`, nil, &u.Bytes)
	})
	return u, err
}
