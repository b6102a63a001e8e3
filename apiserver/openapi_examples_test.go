package apiserver_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlstore"
)

const examplesFile = "internal/httpapi/examples.json"

// example is a call of one operation, as shown in the OpenAPI document. It omits the account's id,
// because readers who try a call use their own.
type example struct {
	Parameters map[string]string `json:"parameters,omitempty"`
	Request    any               `json:"request,omitempty"`
	Response   json.RawMessage   `json:"response,omitempty"`
}

// exampleCalls makes the calls of the examples.
type exampleCalls struct {
	*apitest.Server
	recorded map[string]example
}

// call calls an operation and records the call. params alternates names and values of parameters in
// the path and in the query.
func (c *exampleCalls) call(op api.Spec, body any, params ...string) *apitest.Response {
	c.T.Helper()
	path, query, named := strings.TrimPrefix(op.Path, api.Prefix), url.Values{}, map[string]string{}
	for pair := range slices.Chunk(params, 2) {
		named[pair[0]] = pair[1]
		if at := "{" + pair[0] + "}"; strings.Contains(path, at) {
			path = strings.Replace(path, at, url.PathEscape(pair[1]), 1)
		} else {
			query.Set(pair[0], pair[1])
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r := c.Do(op.Method, path, body).Want(op.Status)
	response := json.RawMessage(r.Raw)
	if r.JSON == nil && len(r.Raw) > 0 {
		response, _ = json.Marshal(string(r.Raw))
	}
	if _, twice := c.recorded[op.ID]; twice {
		c.T.Fatalf("%s has two examples", op.ID)
	}
	c.recorded[op.ID] = example{Parameters: named, Request: body, Response: response}
	return r
}

// TestOpenAPIExamples calls every operation once, on a service with a fixed clock and random
// source, and compares the calls with the examples of the OpenAPI document.
func TestOpenAPIExamples(t *testing.T) {
	if onPostgres {
		t.Skip("the examples are recorded on SQLite: PostgreSQL may run an update again, with other ids")
	}
	s := apitest.New(t, func(o *apiserver.Options) { o.Random = rand.NewChaCha8([32]byte{}) })
	c := &exampleCalls{Server: s, recorded: map[string]example{}}
	c.all()
	for _, op := range api.Specs() {
		_, ok := c.recorded[op.ID]
		assert.Check(t, ok, "%s has no example; call it in exampleCalls.all, and run make golden", op.ID)
	}
	got, err := json.MarshalIndent(c.recorded, "", "  ")
	assert.NilError(t, err)
	got = append(got, '\n')
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile(examplesFile, got, 0o644))
	}
	want, err := os.ReadFile(examplesFile)
	assert.NilError(t, err)
	assert.Check(t, bytes.Equal(got, want), "the calls differ from %s; if this is intended, run make golden", examplesFile)
}

// all calls every operation once, most with its sample: the others show readers less, or more.
func (c *exampleCalls) all() {
	c.call(api.GetAccount.Spec, nil)
	c.call(api.GetCaller.Spec, nil)
	c.call(api.ListWorkspaces.Spec, nil)
	research := c.call(api.CreateWorkspace.Spec, sample.Body(api.CreateWorkspace.Spec)).Str("id")
	c.call(api.GetWorkspace.Spec, nil, "workspace_id", research)

	c.call(api.CheckDomainAvailability.Spec, nil, "name", "example.com")
	c.call(api.PurchaseDomains.Spec, apitest.Object{
		"domains": []string{"example.com", "example.org"}, "workspace_id": c.DefaultWorkspace(), "contact_info": sample.Contact(),
	})
	c.call(api.ListDomains.Spec, nil, "search", "example", "page_size", "1")
	c.call(api.GetDomain.Spec, nil, "domain", "example.com")
	c.call(api.UpdateDomain.Spec, sample.Body(api.UpdateDomain.Spec), "domain", "example.com")

	c.call(api.CreateMailbox.Spec, sample.Body(api.CreateMailbox.Spec))
	c.call(api.CreateMailboxes.Spec, apitest.Object{"domain": "example.com", "items": []apitest.Object{
		{"local_part": "ada", "first_name": "Ada", "last_name": "Lovelace"},
		{"local_part": "jane.doe", "first_name": "Jane", "last_name": "Doe"},
	}})
	c.call(api.ListMailboxes.Spec, nil, "domain", "example.com", "page", "1", "page_size", "25")
	c.call(api.GetMailbox.Spec, nil, "mailbox", "jane.doe@example.com")
	c.call(api.UpdateMailbox.Spec, apitest.Object{"last_name": "Doe-Smith"}, "mailbox", "jane.doe@example.com")
	c.call(api.ExportMailboxes.Spec, apitest.Object{"domain": "example.com"})

	record := c.call(api.CreateDNSRecord.Spec, apitest.Object{"domain": "example.com", "name": "mail", "type": "MX", "value": "mx.example.net", "prio": 10, "ttl": 3600})
	id := idOf(record, "id")
	c.call(api.ListDNSRecords.Spec, nil, "domain", "example.com", "type", "MX")
	c.call(api.GetDNSRecord.Spec, nil, "dns_record_id", id)
	c.call(api.UpdateDNSRecord.Spec, apitest.Object{"ttl": 300}, "dns_record_id", id)

	rule := c.call(api.CreateForwarding.Spec, apitest.Object{"domain": "example.com", "target_email": "archive@example.net"}).Str("id")
	c.call(api.ListForwarding.Spec, nil, "domain", "example.com")
	c.call(api.GetForwarding.Spec, nil, "forwarding_id", rule)
	c.call(api.SetForwardingActive.Spec, sample.Body(api.SetForwardingActive.Spec), "forwarding_id", rule)
	c.call(api.UpdateForwarding.Spec, apitest.Object{"target_email": "jane.doe@example.com"}, "forwarding_id", rule)

	password := c.call(api.CreateMasterPassword.Spec, apitest.Object{"name": "Migration", "domain": "example.com", "generate": true}).Str("id")
	c.call(api.ListMasterPasswords.Spec, nil)
	c.call(api.GetMasterPassword.Spec, nil, "credential_id", password)
	c.call(api.RenameMasterPassword.Spec, sample.Body(api.RenameMasterPassword.Spec), "credential_id", password)

	account := c.call(api.CreateServiceAccount.Spec, sample.Body(api.CreateServiceAccount.Spec)).Str("id")
	c.call(api.ListServiceAccounts.Spec, nil)
	c.call(api.GetServiceAccount.Spec, nil, "service_account_id", account)
	grant := c.call(api.GrantAuthorization.Spec, apitest.Object{
		"grant_kind": "capability", "subject_type": "service_account", "subject_id": account, "capability_key": "mailbox.view",
	}).Str("id")
	c.call(api.ListAuthorizations.Spec, nil, "subject_id", account)
	c.call(api.ListCreations.Spec, nil)

	c.call(api.ListAuditLog.Spec, nil, "limit", "1")

	c.call(api.ListDedicatedIPOptions.Spec, nil)
	ip := c.call(api.ClaimDedicatedIP.Spec, sample.Body(api.ClaimDedicatedIP.Spec)).Str("id")
	c.call(api.ListDedicatedIPs.Spec, nil)
	c.call(api.GetDedicatedIP.Spec, nil, "dedicated_ip_id", ip)

	c.call(api.SubmitFeedback.Spec, apitest.Object{"title": "More regions", "description": "Please offer dedicated IPs in Asia.", "attributes": apitest.Object{"team": "infrastructure"}})
	c.call(api.ChangePlan.Spec, apitest.Object{"effective_date": "2026-04-01T00:00:00Z"})
	c.call(api.CancelPlan.Spec, apitest.Object{"cancel_at_period_end": true})

	c.call(api.ReleaseDedicatedIP.Spec, nil, "dedicated_ip_id", ip)
	c.call(api.RevokeAuthorization.Spec, nil, "authorization_id", grant)
	c.call(api.RevokeServiceAccount.Spec, nil, "service_account_id", account)
	c.call(api.DeleteMasterPassword.Spec, nil, "credential_id", password)
	c.call(api.DeleteForwarding.Spec, nil, "forwarding_id", rule)
	c.call(api.DeleteDNSRecord.Spec, nil, "dns_record_id", id)
	c.call(api.DeleteMailbox.Spec, nil, "mailbox", "ada@example.com")
	c.call(api.DeleteDomain.Spec, nil, "domain", "example.org")
}

// failingEngine is an engine in which a statement fails when left reaches zero.
type failingEngine struct {
	sqlstore.Engine
	left *atomic.Int64
}

func (e failingEngine) View(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	return e.Engine.View(ctx, func(ctx context.Context, q sqlstore.Querier) error { return fn(ctx, failingQuerier{q, e.left}) })
}

func (e failingEngine) Update(ctx context.Context, fn func(context.Context, sqlstore.Querier) error) error {
	if store.AccountOf(ctx) == "" { // the last use of a token, in the background
		return e.Engine.Update(ctx, fn)
	}
	return e.Engine.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error { return fn(ctx, failingQuerier{q, e.left}) })
}

type failingQuerier struct {
	sqlstore.Querier
	left *atomic.Int64
}

var errFailed = errors.New("a statement failed")

func (q failingQuerier) fails() bool { return q.left.Add(-1) == 0 }

func (q failingQuerier) ExecContext(ctx context.Context, query string, args ...any) (int64, error) {
	if q.fails() {
		return 0, errFailed
	}
	return q.Querier.ExecContext(ctx, query, args...)
}

func (q failingQuerier) QueryContext(ctx context.Context, query string, args ...any) (sqlstore.Rows, error) {
	if q.fails() {
		return failedRows{}, nil
	}
	return q.Querier.QueryContext(ctx, query, args...)
}

// failedRows end with an error, like rows whose connection is lost.
type failedRows struct{ sqlstore.Rows }

func (failedRows) Next() bool   { return false }
func (failedRows) Err() error   { return errFailed }
func (failedRows) Close() error { return nil }

// statements makes the statements of stores fail, one after another.
type statements struct {
	t    *testing.T
	left atomic.Int64
}

// each calls fn repeatedly, each time with another failing statement, and returns the result of the
// call without a failure.
func (s *statements) each(fn func() error) error {
	s.t.Helper()
	for n := int64(1); ; n++ {
		s.left.Store(n)
		err := fn()
		if s.left.Swap(0) > 0 {
			return err // no statement failed
		}
		assert.Check(s.t, err != nil, "statement %d failed", n)
	}
}

func (s *statements) open() *sqlstore.Store {
	db, err := sqlite.Open(s.t.Context(), sqlite.Memory, sqlite.Options{})
	assert.NilError(s.t, err)
	return db.Wrap(func(e sqlstore.Engine) sqlstore.Engine { return failingEngine{e, &s.left} })
}

// of makes each statement of a client's requests fail.
func (s *statements) of(c *apitest.Client) *apitest.Client {
	c.HTTP.Transport = failEach{c.HTTP.Transport, s}
	return c
}

type failEach struct {
	http.RoundTripper
	*statements
}

func (f failEach) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	_ = f.each(func() error {
		if r.GetBody != nil {
			r.Body, _ = r.GetBody()
		}
		if resp, err = f.RoundTripper.RoundTrip(r); err != nil {
			return err
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(bytes.NewReader(text))
		if resp.StatusCode == 500 && bytes.Contains(text, []byte(errFailed.Error())) { // ExposeFaults is on
			return errFailed
		}
		return err
	})
	return resp, err
}

// TestEachStatementFails checks that an operation fails if one of its statements fails, and changes
// nothing, so that a retry succeeds.
func TestEachStatementFails(t *testing.T) {
	f := &statements{t: t}
	db, target := f.open(), f.open()
	s := apitest.New(t, func(o *apiserver.Options) { o.Store, o.ExposeFaults = db, true })
	f.of(s.Client)
	(&exampleCalls{Server: s, recorded: map[string]example{}}).all()
	ctx := store.InAccount(t.Context(), accountID)
	update := func(fn func(store.Tx) error) func() error { return func() error { return db.Update(ctx, fn) } }
	var engine sqlstore.Engine
	f.open().Wrap(func(e sqlstore.Engine) sqlstore.Engine { engine = e; return e })
	const own = `CREATE TABLE own (id TEXT)`
	first := &sqlstore.Dialect{
		Migrations: fstest.MapFS{"schema/0001.sql": {Data: []byte(own)}}, Objects: `SELECT 1, 'table own', '` + own + `', '', '', '' FROM sqlite_schema WHERE name = 'own'`, Own: fstest.MapFS{"schema/objects.txt": {Data: []byte("-- table own\n" + own + ";\n")}},
		Columns:       `SELECT t.name, c.name, 0, 0, 0 FROM sqlite_schema t JOIN pragma_table_info(t.name) c`,
		SchemaVersion: func(context.Context, sqlstore.Querier) (int, int, error) { return 0, 0, nil },
		Mark: func(int) string {
			return `INSERT INTO own (id) SELECT checksum FROM mailhost_migrations WHERE version = 1`
		},
	}
	for i, fn := range []func() error{
		func() error {
			return engine.Update(ctx, func(ctx context.Context, q sqlstore.Querier) error {
				_, err := q.ExecContext(ctx, `DROP TABLE mailhost_migrations`)
				return cmp.Or(err, sqlstore.Migrate(ctx, q, first))
			})
		},
		func() error { _, err := sqlstore.Copy(ctx, db, target, func(int64, int64) {}); return err },
		func() error {
			restore, err := s.Service.Snapshot(ctx)
			if err == nil {
				err = restore(ctx)
			}
			return err
		},
		func() error {
			n, err := s.Service.QueuedMessages(ctx)
			assert.Check(t, n == 0 && s.Service.GivenUpMessages() == 0)
			return err
		},
		update(func(tx store.Tx) error { _, err := tx.DeleteAuditEntries("", s.Clock.Now(), 1); return err }),
		update(func(tx store.Tx) error { _, err := tx.SetPublicURL("https://a.example"); return err }),
		func() error { return s.Service.Reset(ctx, nil) },
	} {
		assert.Check(t, f.each(fn), "%d", i)
	}
}
