package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/postgres/postgrestest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// TestSameAsSQLite runs random updates on both engines, on PostgreSQL several of an account at
// the same time and as through a pooler, and compares what each operation returns and what can be read afterwards.
func TestSameAsSQLite(t *testing.T) {
	t.Parallel()
	postgrestest.URL(t) // skips the test if there is no PostgreSQL: a property that skips is an error
	rapid.Check(t, func(rt *rapid.T) {
		theirs, err := sqlite.Open(context.Background(), sqlite.Memory, sqlite.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer theirs.Close()
		ours, err := postgres.Open(context.Background(), postgrestest.URL(rt)+"&default_query_exec_mode=cache_describe", postgres.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer ours.Close()
		for n := range rapid.IntRange(1, 12).Draw(rt, "batches") {
			account := rapid.SampledFrom(accountIDs).Draw(rt, "account")
			batch := rapid.SliceOfN(rapid.Custom(drawUpdate), 1, 5).Draw(rt, fmt.Sprint("batch ", n))
			order, got := together(ours, account, batch)
			version := versionOf(theirs)
			for _, i := range order {
				want := batch[i].run(store.InAccount(context.Background(), account), theirs, account, version, func() {})
				if got[i] != want {
					rt.Fatalf("update %d of %v in %s, in the order %v:\n%s\non SQLite:\n%s", i, batch, account, order, got[i], want)
				}
			}
			if got, want := readEverything(ours), readEverything(theirs); got != want {
				rt.Fatalf("after %v in %s:\n%s\non SQLite:\n%s", batch, account, got, want)
			}
		}
	})
}

// together runs updates of an account at the same time. It returns the order in which they
// were kept, and their results.
func together(s *postgres.Store, account string, batch []update) (order []int, results []string) {
	results = make([]string, len(batch))
	version := versionOf(s)
	ctx := store.InAccount(context.Background(), account)
	var wg sync.WaitGroup
	for i, u := range batch {
		wg.Go(func() {
			results[i] = u.run(ctx, s, account, version, func() { // alone on the account
				order = append(slices.DeleteFunc(order, func(n int) bool { return n == i }), i)
			})
		})
	}
	wg.Wait()
	return order, results
}

// versionOf returns the authorization version of a store.
func versionOf(s store.Store) (version int64) {
	if err := s.View(context.Background(), func(r store.Reader) (err error) {
		version, err = r.AuthorizationVersion()
		return err
	}); err != nil {
		panic(err)
	}
	return version
}

// update is a list of operations. The last one may be an error, which undoes them.
type update []operation

func drawUpdate(t *rapid.T) update {
	operations := rapid.SliceOfN(rapid.Custom(drawOperation), 1, 4).Draw(t, "operations")
	if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
		operations = append(operations, operation{kind: "fail"})
	}
	return operations
}

// operation is one call of a store.Tx. The numbers choose from few objects, so that
// operations meet.
type operation struct {
	kind    string
	a, b, c int
}

func drawOperation(t *rapid.T) operation {
	few := rapid.IntRange(0, 2)
	return operation{rapid.SampledFrom(kinds).Draw(t, "kind"), few.Draw(t, "a"), few.Draw(t, "b"), few.Draw(t, "c")}
}

var kinds = []string{
	"create account", "update account", "create workspace",
	"create domain", "create domain", "update domain", "delete domain", "unpaid domains", "domain by name",
	"create mailbox", "create mailbox", "create mailbox", "update mailbox", "delete mailbox", "mailbox by address",
	"create record", "update record", "delete record", "create rule", "delete rule",
	"create grant", "revoke grant", "version", "create service account", "touch",
	"put response", "find response", "take token", "audit",
}

var accountIDs = []string{"account-0", "account-1"}

var errUndo = errors.New("undone")

// run runs an update, and returns what its operations have returned. It calls begin whenever
// the function runs. version is that of the store before.
func (u update) run(ctx context.Context, s store.Store, account string, version int64, begin func()) string {
	var results string
	err := s.Update(ctx, func(tx store.Tx) error {
		begin()
		results = ""
		for _, o := range u {
			result, err := o.run(tx, account, version)
			results += fmt.Sprintf("%s: %+v, %s\n", o.kind, result, describe(err))
			if err == errUndo {
				return err
			}
		}
		return nil
	})
	return results + describe(err)
}

// describe returns what callers know of an error.
func describe(err error) string {
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return "exists: " + exists.ID
	}
	if errors.Is(err, store.ErrNotFound) {
		return "not found"
	}
	return fmt.Sprint(err)
}

func (o operation) run(tx store.Tx, account string, version int64) (any, error) {
	id := func(kind string, n int) string { return fmt.Sprintf("%s-%s-%d", kind, account, n) }
	created := epoch.Add(time.Duration(o.c) * time.Second)
	domainName := fmt.Sprintf("d%d.example", o.a)
	key := []byte{byte(o.a)}
	switch o.kind {
	case "fail":
		return nil, errUndo
	case "create account":
		v := store.Account{ID: account, Status: "active", CreatedAt: created}
		return &v, tx.CreateAccount(&v)
	case "update account":
		return pair(tx.UpdateAccount(account, func(v *store.Account) error { v.PlanID = fmt.Sprint(o.a); return nil }))
	case "create workspace":
		v := store.Workspace{ID: id("w", o.a), AccountID: account, Name: fmt.Sprintf("Wörk %d", o.b), CreatedAt: created}
		return &v, known(tx, account, func() error { return tx.CreateWorkspace(&v) })
	case "create domain":
		v := store.Domain{ID: id("d", o.a), AccountID: account, WorkspaceID: id("w", o.b), Name: domainName, CreatedAt: created,
			State: store.Provisioning{Status: []string{vocab.DomainActive, vocab.DomainPendingPayment}[o.c/2]}}
		if _, err := tx.Workspace(account, v.WorkspaceID); err != nil {
			return nil, err
		}
		return &v, tx.CreateDomain(&v)
	case "update domain":
		if _, err := tx.Workspace(account, id("w", o.b)); err != nil {
			return nil, err
		}
		return pair(tx.UpdateDomain(account, id("d", o.a), func(v *store.Domain) error {
			v.WorkspaceID, v.Tags = id("w", o.b), []store.Tag{{ID: fmt.Sprint(o.c), Name: "é"}}
			v.State.Status = []string{vocab.DomainActive, vocab.DomainPendingPayment}[o.c/2]
			return nil
		}))
	case "delete domain":
		_, n, err := tx.Mailboxes(account, store.MailboxFilter{DomainID: id("d", o.a)}, store.Slice{Limit: 1})
		if n > 0 || err != nil {
			return n, err
		}
		return nil, tx.DeleteDomain(account, id("d", o.a), created)
	case "unpaid domains":
		return pair(tx.UnpaidDomains(account, "", created))
	case "domain by name":
		return pair(tx.DomainByName(account, domainName))
	case "create mailbox":
		v := store.Mailbox{ID: id("m", o.b), AccountID: account, DomainID: id("d", o.a), LocalPart: fmt.Sprintf("l%d", o.c), FirstName: "Ünï_%", CreatedAt: created,
			State: store.Provisioning{Status: vocab.MailboxActive}}
		if o.b == 2 {
			v.Aliases = []store.MailboxAlias{{Alias: fmt.Sprintf("l%d@d%d.example", (o.c+1)%3, o.c)}}
		}
		return &v, tx.CreateMailbox(&v)
	case "update mailbox":
		return pair(tx.UpdateMailbox(account, id("m", o.b), func(v *store.Mailbox) error { v.LastName = fmt.Sprint(o.c); return nil }))
	case "delete mailbox":
		return nil, tx.DeleteMailbox(account, id("m", o.b), created)
	case "mailbox by address":
		return pair(tx.MailboxByAddress(account, fmt.Sprintf("l%d", o.c), domainName))
	case "create record":
		v := store.DNSRecord{ID: int64(1 + o.b), AccountID: account, DomainID: id("d", o.a), Name: "@", Type: "TXT", Value: fmt.Sprint(o.c), SystemManaged: o.c == 0, CreatedAt: created}
		if _, err := tx.Domain(account, v.DomainID); err != nil {
			return nil, err
		}
		return &v, tx.CreateDNSRecord(&v)
	case "update record":
		return pair(tx.UpdateDNSRecord(account, int64(1+o.b), func(v *store.DNSRecord) error { v.Value = fmt.Sprint(o.c); return nil }))
	case "delete record":
		return nil, tx.DeleteDNSRecord(account, int64(1+o.b))
	case "create rule":
		v := store.Forwarding{ID: id("f", o.b), AccountID: account, Scope: store.Scope{Type: vocab.ScopeDomain, ID: id("d", o.a)}, TargetEmail: fmt.Sprintf("l%d@d%d.example", o.c, o.a), Internal: true, CreatedAt: created}
		return &v, known(tx, account, func() error { return tx.CreateForwarding(&v) })
	case "delete rule":
		return nil, tx.DeleteForwarding(account, id("f", o.b))
	case "create grant":
		v := store.Authorization{ID: id("g", o.a), AccountID: account, GrantKind: "capability", SubjectType: "user", SubjectID: fmt.Sprint(o.b), CreatedAt: created}
		return &v, known(tx, account, func() error { return tx.CreateAuthorization(&v) })
	case "revoke grant":
		return pair(tx.UpdateAuthorization(account, id("g", o.a), func(v *store.Authorization) error { v.RevokedAt = created; return nil }))
	case "version":
		v, err := tx.AuthorizationVersion()
		return v != version, err
	case "create service account":
		v := store.ServiceAccount{ID: id("s", o.a), AccountID: account, PublicID: fmt.Sprint(o.b), SecretHash: key, CreatedAt: created}
		return &v, known(tx, account, func() error { return tx.CreateServiceAccount(&v) })
	case "touch":
		return nil, tx.TouchServiceAccount(id("s", o.a), created)
	case "put response":
		return nil, tx.PutIdempotencyRecord(store.IdempotencyRecord{KeyHash: key, Fingerprint: key, Response: []byte{byte(o.b)}, ExpiresAt: created.Add(time.Hour)})
	case "find response":
		return pair(tx.IdempotencyRecord(key, created))
	case "take token":
		var before time.Time
		err := tx.UpdateTokenBucket(fmt.Sprint("bucket ", o.a), created, func(fullAt time.Time) (time.Time, error) {
			before = fullAt
			return created.Add(time.Duration(o.b) * time.Second), nil
		})
		return before, err
	case "audit":
		return nil, tx.AddAuditEntry(&store.AuditEntry{AccountID: account, Operation: o.kind, CreatedAt: created})
	}
	panic(o.kind)
}

func pair[T any](v T, err error) (any, error) { return v, err }

// known creates something if its account exists, without which engines return errors of their
// own.
func known(tx store.Tx, account string, create func() error) error {
	if _, err := tx.Account(account); err != nil {
		return err
	}
	return create()
}

// readEverything describes what can be read of a store.
func readEverything(s store.Store) string {
	var text string
	add := func(err error, what ...any) {
		for _, v := range append(what, describe(err)) {
			text += fmt.Sprintf("%+v\n", v)
		}
	}
	err := s.View(context.Background(), func(r store.Reader) error {
		accounts, err := r.Accounts()
		slices.SortFunc(accounts, func(a, b store.Account) int { return a.CreatedAt.Compare(b.CreatedAt) })
		add(err, accounts)
		for _, account := range accountIDs {
			all := store.Slice{Limit: 100}
			for _, read := range []func() (any, int, error){
				func() (any, int, error) { return triple(r.Workspaces(account, store.Within{}, all)) },
				func() (any, int, error) { return triple(r.Domains(account, store.DomainFilter{Tag: "é"}, all)) },
				func() (any, int, error) { return triple(r.Domains(account, store.DomainFilter{}, all)) },
				func() (any, int, error) { return triple(r.Mailboxes(account, store.MailboxFilter{}, all)) },
				func() (any, int, error) {
					return triple(r.Mailboxes(account, store.MailboxFilter{Search: "nï_"}, store.Slice{Offset: 1, Limit: 2}))
				},
				func() (any, int, error) { return triple(r.DNSRecords(account, store.DNSRecordFilter{}, all)) },
				func() (any, int, error) { return triple(r.ForwardingRules(account, store.ForwardingFilter{}, all)) },
				func() (any, int, error) { return triple(r.ServiceAccounts(account, all)) },
			} {
				items, total, err := read()
				add(err, items, total)
			}
			grants, err := r.Authorizations(account, store.AuthorizationFilter{})
			add(err, grants)
		}
		for i := range 3 {
			record, err := r.IdempotencyRecord([]byte{byte(i)}, epoch)
			add(err, record)
			bucket, err := r.TokenBucket(fmt.Sprint("bucket ", i))
			add(err, bucket)
		}
		return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
			e.ID = 0 // a number that an update did not keep may be left out
			add(nil, e)
			return nil
		})
	})
	add(err)
	return text
}

func triple[T any](items []T, total int, err error) (any, int, error) { return items, total, err }
