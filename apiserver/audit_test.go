package apiserver_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type audited struct {
	*apitest.Server
	store store.Store
}

func newAudited(t *testing.T, configure ...func(*apiserver.Options)) *audited {
	t.Helper()
	a := &audited{store: newStore(t)}
	a.Server = apitest.New(t, append([]func(*apiserver.Options){func(o *apiserver.Options) { o.Store = a.store }}, configure...)...)
	return a
}

// entries returns the matching entries of the audit log.
func (a *audited) entries(f store.AuditFilter) (all []store.AuditEntry) {
	a.T.Helper()
	err := a.store.View(a.T.Context(), func(r store.Reader) error {
		all = nil
		return r.EachAuditEntry(f, func(e store.AuditEntry) error {
			all = append(all, e)
			return nil
		})
	})
	if err != nil {
		a.T.Fatal(err)
	}
	return all
}

// during returns the entries logged while fn runs, each as "operation by subject: action type name
// (fields), …".
func (a *audited) during(fn func()) (logged []string) {
	a.T.Helper()
	before := len(a.entries(store.AuditFilter{}))
	fn()
	for _, e := range a.entries(store.AuditFilter{})[before:] {
		var changes []string
		for _, c := range e.Changes {
			if c.ID == "" {
				a.T.Errorf("a change has no id: %+v", e)
			}
			text := strings.TrimSpace(c.Action + " " + c.Type + " " + c.Name)
			if c.Fields != nil {
				text += " (" + strings.Join(c.Fields, ", ") + ")"
			}
			changes = append(changes, text)
		}
		logged = append(logged, fmt.Sprintf("%s by %s %s: %s", e.Operation, e.Subject.Type, e.Subject.Name, strings.Join(changes, ", ")))
	}
	return logged
}

// TestEveryOperationIsLogged checks that each operation with a change writes one audit entry, and
// every other operation none.
func TestEveryOperationIsLogged(t *testing.T) {
	names := map[string]bool{}
	for _, name := range audit.Operations() {
		names[name] = true
	}
	for _, spec := range api.Specs() {
		t.Run(spec.ID, func(t *testing.T) {
			a := newAudited(t)
			r := ready(a.Server, newRequest(t, spec))
			send := func() *apitest.Response {
				return r.send(a.Client, "X-Request-Id", "the-request", "Idempotency-Key", key).Want(spec.Status)
			}
			send()
			got := a.entries(store.AuditFilter{RequestID: "the-request"})
			if !spec.Changes() {
				assert.Check(t, len(got) == 0, "logged although nothing changed: %+v", got)
				return
			}
			assert.Assert(t, len(got) == 1, "%d entries: %+v; its body in apitest/sample must change the object that New creates there", len(got), got)
			e := got[0]
			if e.Operation != spec.ID || !names[spec.ID] || e.AccountID != accountID || len(e.Changes) == 0 ||
				e.Subject.Type != vocab.SubjectUser || e.Subject.ID == "" || e.CreatedAt.Sub(a.Clock.Now()).Abs().Seconds() > 1 {
				t.Errorf("the entry is %+v", e)
			}
			for _, c := range e.Changes {
				if c.Action == "" || c.Type == "" || c.ID == "" || c.Name == "" && c.Type != "account" ||
					(c.Action == store.AuditUpdated) != (len(c.Fields) > 0) {
					t.Errorf("a change is %+v", c)
				}
			}
			if spec.Keyed() && (!send().Replayed() || len(a.entries(store.AuditFilter{RequestID: "the-request"})) != 1) {
				t.Error("the response is not replayed, or the replay is logged")
			}
		})
	}
}

func TestAuditEntries(t *testing.T) {
	a := newAudited(t)
	ci := a.Post("/auth/service-accounts", obj{"name": "ci"}).Want(201)
	c := a.As(ci.Str("token"))
	var rule, password, owned string
	records := strings.Repeat(", created dns_record example.com MX", 2) +
		", created dns_record example.com TXT, created dns_record mailhost._domainkey.example.com TXT, created dns_record _dmarc.example.com TXT"
	for _, tt := range []struct {
		what string
		do   func()
		want string // empty if nothing is logged
	}{
		{"purchase", func() { owned = c.Domain("example.com") }, "purchase-domains by service_account ci: created domain example.com" + records},
		{"no purchase", func() { c.Purchase(c.DefaultWorkspace(), "example.com").Want(200) }, ""},
		{"mailbox", func() { c.Mailbox("example.com", "Jane") }, "create-mailbox by service_account ci: created mailbox jane@example.com"},
		{"conflict", func() { c.CreateMailbox("example.com", "jane").Want(409) }, ""},
		{"invalid", func() { c.CreateMailbox("example.com", "").Want(422) }, ""},
		{"keyed conflict", func() {
			c.PostKeyed(key, "/mailboxes", obj{"domain": "example.com", "local_part": "jane", "first_name": "x", "last_name": "y"}).Want(409)
		}, ""},
		{"unauthorized", func() { a.As("x").Post("/workspaces", obj{"name": "w"}).Want(401) }, ""},
		{"reading", func() { c.Get("/mailboxes").Want(200); c.Do("POST", "/mailboxes/export", obj{}).Want(200) }, ""},
		{"bulk", func() {
			c.Post("/mailboxes/bulk", obj{"domain": "example.com", "items": []obj{
				{"local_part": "a", "first_name": "f", "last_name": "l"}, {"local_part": "jane", "first_name": "f", "last_name": "l"}, {"local_part": "b", "first_name": "f", "last_name": "l"},
			}}).Want(200)
		}, "create-mailboxes by service_account ci: created mailbox a@example.com, created mailbox b@example.com"},
		{"update", func() { c.Patch("/mailboxes/jane@example.com", obj{"first_name": "Jane", "last_name": nil}).Want(200) },
			"update-mailbox by service_account ci: updated mailbox jane@example.com (first_name)"},
		{"empty update", func() { c.Patch("/mailboxes/jane@example.com", obj{}).Want(200) }, ""},
		{"unchanged value", func() { c.Patch("/mailboxes/jane@example.com", obj{"first_name": "Jane"}).Want(200) }, ""},
		{"null that clears", func() {
			c.Patch("/domains/example.com", obj{"redirect_url": "https://example.net", "auto_renew": nil}).Want(200)
			c.Patch("/domains/example.com", obj{"redirect_url": nil}).Want(200)
		}, "update-domain by service_account ci: updated domain example.com (redirect_url)\n" +
			"update-domain by service_account ci: updated domain example.com (redirect_url)"},
		{"record", func() { c.CreateRecord("example.com", "www", "TXT", "a secret").Want(201) },
			"create-dns-record by service_account ci: created dns_record www.example.com TXT"},
		{"rule", func() { rule = c.Forwarding("joe@example.net", obj{"domain": "example.com"}) },
			"create-forwarding by service_account ci: created forwarding joe@example.net"},
		{"password", func() { password = c.Password("ops", obj{"domain": "example.com"}) },
			"create-master-password by service_account ci: created master_password ops"},
		{"rename", func() { c.Patch("/credentials/"+password, obj{"name": "dev"}).Want(200) },
			"rename-master-password by service_account ci: updated master_password dev (name)"},
		{"confirmation", func() { a.click(t); a.click(t) },
			"confirm-forwarding by recipient : updated forwarding joe@example.net (verification_state)"},
		{"verified already", func() { c.Patch("/forwarding/"+rule, obj{"target_email": "joe@example.net"}).Want(200) }, ""},
		{"rules to a mailbox", func() {
			a.Clock.Advance(week) // listed after the other rule
			c.Forwarding("b@example.com", obj{})
			c.Forwarding("b@example.com", obj{"domain": "example.com"})
		}, strings.TrimSuffix(strings.Repeat("create-forwarding by service_account ci: created forwarding b@example.com\n", 2), "\n")},
		{"grant", func() {
			c.Post("/auth/authorizations", obj{"grant_kind": "capability", "subject_type": "user", "subject_id": "u", "capability_key": "mailbox.view", "resource_type": "domain", "resource_id": owned}).Want(201)
		}, "grant-authorization by service_account ci: created authorization mailbox.view in domain " + "ID" + " for user u"},
		{"a domain with mailboxes", func() { c.Delete("/domains/example.com").Want(409) }, ""},
		{"a domain with its objects", func() {
			for _, name := range []string{"a", "b", "jane"} {
				a.Delete("/mailboxes/" + name + "@example.com").Want(204)
			}
			c.Delete("/domains/example.com").Want(204)
		}, "delete-mailbox by user : deleted mailbox a@example.com\ndelete-mailbox by user : deleted mailbox b@example.com" +
			strings.Repeat(", updated forwarding b@example.com (verification_state)", 2) + "\n" +
			"delete-mailbox by user : deleted mailbox jane@example.com\ndelete-domain by service_account ci: deleted domain example.com" +
			strings.ReplaceAll(records, "created", "deleted") + ", deleted dns_record www.example.com TXT, deleted master_password dev, deleted forwarding joe@example.net, deleted forwarding b@example.com"},
		{"revocation", func() {
			a.Delete("/auth/service-accounts/" + ci.Str("id")).Want(204)
			a.Delete("/auth/service-accounts/" + ci.Str("id")).Want(204) // a second delete changes nothing
		}, "revoke-service-account by user : revoked service_account ci"},
		{"plan", func() {
			a.Post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy"}).Want(200).Is("status", "completed")
			a.Post("/billing/change-plan", obj{"plan_id": "smtp_per_proxy"}).Want(200).Is("status", "unchanged")
		}, "change-plan by user : updated account (plan_id)"},
	} {
		got := strings.Join(a.during(tt.do), "\n")
		if got = strings.ReplaceAll(got, owned, "ID"); owned == "" || got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.what, got, tt.want)
		}
	}
}

// click confirms the newest verification message.
func (a *audited) click(t *testing.T) {
	t.Helper()
	messages := a.Service.Outbox()
	resp, err := a.Service.Client().Post(messages[len(messages)-1].Link, "", nil)
	assert.Assert(t, err == nil && resp.StatusCode == http.StatusOK, "%v, %v", resp, err)
	_ = resp.Body.Close()
}

// TestAuditWithoutRequests checks the audit entries of changes through Go methods.
func TestAuditWithoutRequests(t *testing.T) {
	a := newAudited(t)
	seed := &fixture.Fixture{Accounts: []fixture.Account{{ID: otherKey}, {ID: nobody}}}
	created := func(id string) string {
		return "created account, created workspace Default, created authorization account_owner for user " + api.DerivedID(id, "user:owner") +
			", created dedicated_ip_option Europe, created dedicated_ip_option United States"
	}
	for _, tt := range []struct {
		what string
		do   func() error
		want []string
	}{
		{"existing account", func() error { _, err := a.Service.EnsureAccount(t.Context(), ""); return err }, nil},
		{"an account", func() error { _, err := a.Service.EnsureAccount(t.Context(), key); return err },
			[]string{"ensure-account by operator : " + created(key)}},
		{"a fixture", func() error { return a.Service.LoadFixture(t.Context(), seed) },
			[]string{"load-fixture by operator : " + created(otherKey), "load-fixture by operator : " + created(nobody)}},
		{"a fixture again", func() error { return a.Service.LoadFixture(t.Context(), seed) }, nil},
	} {
		var err error
		got := a.during(func() { err = tt.do() })
		assert.Check(t, err, tt.what)
		same(t, tt.what, got, tt.want)
	}
	for what, issue := range map[string]func() error{
		"issue-owner-token": func() error { _, err := a.Service.IssueOwnerToken(t.Context(), key, "made"); return err },
		"init-account":      func() error { _, _, err := a.Service.InitAccount(t.Context(), nobody, "made"); return err },
	} {
		var err error
		got := a.during(func() { err = issue() })
		want := what + " by operator : created service_account made, created authorization account_owner for service_account "
		assert.Check(t, err == nil && len(got) == 1 && strings.HasPrefix(got[0], want), "%q, %v; want %s", got, err, want)
	}
	_, _, err := a.Service.InitAccount(t.Context(), nobody, "again")
	assert.Check(t, err != nil, "InitAccount created a second account")
	got := a.entries(store.AuditFilter{Object: "again"})
	assert.Check(t, len(got) == 0, "a rejected call is logged: %+v", got)
}

// TestAuditOfReset checks that a reset empties the log and begins it with an entry for
// each deleted account.
func TestAuditOfReset(t *testing.T) {
	a := newAudited(t)
	a.Owner(t, nobody)
	a.Domain("example.com")
	assert.NilError(t, a.Service.Reset(apiserver.AsControlPlane(t.Context()), nil))
	var logged []string
	for _, e := range a.entries(store.AuditFilter{}) {
		logged = append(logged, e.AccountID+" "+e.Operation+" by "+e.Subject.Type+": "+e.Changes[0].Action+" "+e.Changes[0].Type+" "+e.Changes[0].ID)
	}
	same(t, "the log", logged, []string{
		accountID + " reset by control_plane: deleted account " + accountID,
		nobody + " reset by control_plane: deleted account " + nobody,
	})
}

func TestAuditedFrom(t *testing.T) {
	a := newAudited(t)
	token, err := a.Service.IssueOwnerToken(t.Context(), accountID, "ci")
	assert.NilError(t, err)
	for remote, want := range map[string]string{
		"192.0.2.7:4711": "192.0.2.7", "[::ffff:192.0.2.8]:1": "192.0.2.8", "[2001:db8::1%eth0]:1": "2001:db8::1%eth0", "@": "", "": "",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mailhost.test/v1/public/accounts/"+accountID+"/workspaces", strings.NewReader(`{"name":"from `+remote+`"}`))
		assert.NilError(t, err)
		r.RemoteAddr = remote
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := a.Service.Client().Do(r) // the in-process client does not change RemoteAddr
		assert.Assert(t, err == nil && resp.StatusCode == http.StatusCreated, "%v, %v", resp, err)
		_ = resp.Body.Close()
		e := a.entries(store.AuditFilter{Object: "from " + remote})
		assert.Check(t, len(e) == 1 && e[0].RemoteAddress == want && e[0].RequestID == resp.Header.Get("X-Request-Id"), "from %q: %+v; want %q", remote, e, want)
	}
}

// TestListAuditLog checks that the log is listed in pages, newest first, with each filter,
// for callers with the capability and for their account only.
func TestListAuditLog(t *testing.T) {
	s := apitest.New(t)
	s.Domain("example.com")
	s.CreateMailbox("example.com", "ada").Want(201)
	s.Do("PATCH", "/mailboxes/ada@example.com", `{"first_name":"Ada"}`, "X-Request-Id", "r-1").Want(200)
	s.CreateMailbox("example.com", "bob").Want(201)
	list := func(query string) (all []api.AuditEntry) {
		s.Get("/audit-log" + query).Want(200).Into(&all)
		return all
	}
	all := list("")
	var operations []string
	for _, e := range all {
		operations = append(operations, e.Operation)
	}
	assert.Check(t, is.Equal(strings.Join(operations[:4], " "), "create-mailbox update-mailbox create-mailbox purchase-domains"), "the log")
	updated := all[1]
	if c := updated.Changes[0]; *updated.RequestID != "r-1" || updated.RemoteAddress != nil || c.Action != "updated" || c.Type != "mailbox" || *c.Name != "ada@example.com" || len(c.Fields) != 1 || c.Fields[0] != "first_name" {
		t.Errorf("the update is logged as %+v", updated)
	}
	var paged []api.AuditEntry
	for page := list("?limit=2"); len(page) > 0; page = list("?limit=2&until=" + page[len(page)-1].CreatedAt) {
		paged = append(paged, page...)
	}
	equal := func(what string, got, want []api.AuditEntry) {
		assert.Check(t, reflect.DeepEqual(got, want), "%s: %+v; want %+v", what, got, want)
	}
	equal("the pages", paged, all)
	equal("since", list("?since="+updated.CreatedAt), all[:2])
	for _, query := range []string{"?request_id=r-1", "?operation=update-mailbox", "?object=ADA@example.com&limit=1"} {
		equal(query, list(query), all[1:2])
	}
	equal("of the owner", list("?subject="+*updated.Subject.ID), all[:4])
	equal("of nobody", list("?subject=nobody"), []api.AuditEntry{})
	equal("of a long name", list("?object="+strings.Repeat("x", 10_001)), []api.AuditEntry{})
	for n, want := range map[int]int{1: len(all[3].Changes) - 1, len(all[3].Changes): 0} {
		if short := list("?operation=purchase-domains&max_changes=" + strconv.Itoa(n)); len(short[0].Changes) != n || short[0].MoreChanges != want {
			t.Errorf("an entry of %d changes with max_changes=%d has %d, and %d more", len(all[3].Changes), n, len(short[0].Changes), short[0].MoreChanges)
		}
	}
	s.Get("/audit-log?max_changes=0").Refused(422, "query.max_changes greater_than_equal")
	s.Get("/audit-log?until=9999-12-31T23:59:59-01:00").Refused(422, "query.until value_error")

	var foreign []api.AuditEntry
	s.Owner(t, "99999999-2222-4333-8444-555555555555").Get("/audit-log?object=ada@example.com").Want(200).Into(&foreign)
	equal("of another account", foreign, []api.AuditEntry{})
	s.Limited(t, apitest.Grant{Capability: vocab.CapMailboxView}).Get("/audit-log").Refused(403, "header.Authorization permission_denied").Says("audit_log.view")
	s.Limited(t, apitest.Grant{Capability: vocab.CapAuditLogView}).Get("/audit-log?limit=1").Want(200)
}
