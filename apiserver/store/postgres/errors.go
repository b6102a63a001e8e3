package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var errOtherProgram = errors.New("the database has tables of another program; create an empty database, and name that")

// retryError means that nothing of an update was kept, and that another run may succeed.
type retryError struct{ cause error }

func (e *retryError) Error() string { return e.cause.Error() }
func (e *retryError) Unwrap() error { return e.cause }

// errUnknownOutcome means that the connection was lost during a commit.
var errUnknownOutcome = errors.New("the connection was lost during a commit, so that it is unknown whether the changes were kept")

// code returns the SQLSTATE of an error from the server, or "".
func code(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// retryable reports whether the whole transaction of a failed statement may succeed later.
func retryable(err error, conn *pgx.Conn) bool {
	switch code(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	case "23505": // another transaction took a unique value after this one had looked for it
		return true
	}
	return isOutdated(err) || conn.IsClosed()
}

// isOutdated reports whether a connection can't be used again: a newer replica changed the table
// of a prepared statement, or the connection was opened while the database was read-only.
func isOutdated(err error) bool {
	return code(err) == readOnlyTransaction || code(err) == "0A000" && strings.Contains(err.Error(), "cached plan")
}

// readOnlyTransaction is the SQLSTATE of a write in a read-only transaction.
const readOnlyTransaction = "25006"

// explain wraps an error that the database caused in store.ErrUnavailable or a *retryError.
func (t *transaction) explain(err error) error {
	switch {
	case err == nil || t.failed == nil:
		return err
	case code(t.failed) == "23505":
		return &retryError{err}
	case retryable(t.failed, t.conn):
		return &retryError{unavailable(err)}
	case isOutage(t.failed):
		return unavailable(err)
	}
	return err
}

// lockNotAvailable is the SQLSTATE of a statement that ran into the lock timeout.
const lockNotAvailable = "55P03"

// isOutage reports whether the same statement may succeed later.
func isOutage(err error) bool {
	c := code(err)
	return slices.Contains([]string{
		readOnlyTransaction, // of a standby, for instance
		"25P03",             // the transaction was idle for too long
		"42501",             // the user lost a privilege
		lockNotAvailable,
		"57014", // the statement timeout has passed
	}, c) || slices.ContainsFunc([]string{
		"08",  // connection
		"53",  // disk, memory, connections
		"57P", // the server shuts down or starts
		"58",  // input and output
	}, func(class string) bool { return strings.HasPrefix(c, class) })
}

func unavailable(err error) error {
	if errors.Is(err, store.ErrUnavailable) {
		return err
	}
	if code(err) == lockNotAvailable {
		return fmt.Errorf("%w: %w", store.ErrLocked, err)
	}
	if e, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = connectError{e}
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// connectError begins with the server's reason, such as a limit of connections, and joins the lines of pgx's error,
// one for each attempt: by default pgx tries TLS first, and then plain text, at each address.
type connectError struct{ *pgconn.ConnectError }

func (e connectError) Error() string {
	text := strings.Join(strings.Fields(e.ConnectError.Error()), " ")
	if reason, ok := errors.AsType[*pgconn.PgError](e.ConnectError); ok {
		text = reason.Error() + ": " + strings.ReplaceAll(text, ": server error: "+reason.Error(), "")
	}
	return text
}

// Unwrap returns pgx's error.
func (e connectError) Unwrap() error { return e.ConnectError }

// openError explains why a database can't be opened.
func openError(err error) error {
	advice := ""
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	switch c := code(err); {
	case c == "42501" && connecting:
		advice = "; grant the user CONNECT on the database"
	case c == "42501":
		advice = "; grant the user CREATE on the schema, or make it the owner of the database, and of the tables if another user restored them"
	case c == "3D000":
		advice = "; create it first, for instance with createdb"
	case strings.HasPrefix(c, "28"):
		advice = "; check the user, and set its password in PGPASSWORD or in a file of PGPASSFILE"
	case c == "" && connecting:
		advice = "; start the server, or correct the host and the port"
	}
	return fmt.Errorf("PostgreSQL: %w%s", err, advice)
}
