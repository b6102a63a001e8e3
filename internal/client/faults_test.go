package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// subjects are the ids of the objects that the operations read, change and delete.
type subjects struct {
	account, domain, emptyDomain, mailbox, record, rule, password, serviceAccount, ip, grant string
}

// exercise sends one operation through the client. It returns the id of the object, and a secret.
type exercise func(ctx context.Context, c *client.Client, s subjects) (id, secret string, err error)

// exercises sends each operation of the contract that the client has.
var exercises = map[string]exercise{
	"get-account": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.Account, error) {
		return c.GetAccount(ctx)
	}),
	"get-caller": func(ctx context.Context, c *client.Client, _ subjects) (string, string, error) {
		caller, err := c.Caller(ctx) // nil if the API lacks the operation
		if caller == nil {
			return "", "", err
		}
		return caller.SubjectID, "", err
	},
	"change-plan": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.BillingResult, error) {
		return c.ChangePlan(ctx, api.ChangePlanBody{PlanID: new(vocab.PlanSMTPPerProxy)})
	}),
	"cancel-plan": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.BillingResult, error) {
		return c.CancelPlan(ctx, api.CancelPlanBody{CancelAtPeriodEnd: new(true)})
	}),
	"submit-feedback": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.Feedback, error) {
		return c.SubmitFeedback(ctx, api.SubmitFeedbackBody{Title: "T", Description: "D"})
	}),
	"list-workspaces": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.Workspace, error] {
		return c.ListWorkspaces(ctx)
	}),

	"list-authorizations": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.Authorization, error] {
		return c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{})
	}),
	"grant-authorization": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.GrantAuthorization(ctx, api.GrantAuthorizationBody{
			GrantKind: "capability", SubjectType: "service_account", SubjectID: strings.ToUpper(s.serviceAccount),
			CapabilityKey: new(string(vocab.CapMailboxView)), ResourceType: new("domain"), ResourceID: new(strings.ToUpper(s.domain)),
		})
	}),
	"revoke-authorization": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.RevokeAuthorization(ctx, s.grant)
	}),

	"list-domains": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.Domain, error] {
		return c.ListDomains(ctx, api.ListDomainsRequest{})
	}),
	"get-domain": one(func(ctx context.Context, c *client.Client, s subjects) (*api.Domain, error) {
		return c.Domains.Get(ctx, s.domain)
	}),
	"check-domain-availability": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.DomainAvailability, error) {
		return c.DomainAvailability(ctx, "new.com")
	}),
	"purchase-domains": func(ctx context.Context, c *client.Client, s subjects) (string, string, error) {
		contact := new(api.ContactInfo)
		text, _ := json.Marshal(sample.Contact())
		_ = json.Unmarshal(text, contact)
		d, err := c.PurchaseDomain(ctx, "new.com", api.PurchaseDomainsBody{WorkspaceID: api.DefaultWorkspaceID(s.account), ContactInfo: *contact})
		if err != nil {
			return "", "", err
		}
		if d.Adopted {
			return "", "", errors.New("the domain counts as one that the account owned before")
		}
		return d.ID, "", nil
	},
	"update-domain": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.UpdateDomain(ctx, s.domain, api.UpdateDomainBody{AutoRenew: new(true)})
	}),
	"delete-domain": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.Domains.Delete(ctx, s.emptyDomain)
	}),

	"list-mailboxes": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.Mailbox, error] {
		return c.ListMailboxes(ctx, api.ListMailboxesRequest{})
	}),
	"get-mailbox": one(func(ctx context.Context, c *client.Client, s subjects) (*api.Mailbox, error) {
		return c.Mailboxes.Get(ctx, s.mailbox)
	}),
	"create-mailbox": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.Mailbox, error) {
		return c.CreateMailbox(ctx, api.CreateMailboxBody{Domain: "example.com", LocalPart: "New", FirstName: "New", LastName: "Doe"})
	}),
	"create-mailboxes": func(ctx context.Context, c *client.Client, _ subjects) (string, string, error) {
		created := c.CreateMailboxes(ctx, "example.com", []api.NewMailboxItem{
			{LocalPart: "Ada", FirstName: "Ada", LastName: "Doe"}, {LocalPart: "bob", FirstName: "Bob", LastName: "Doe"},
		})
		if err := errors.Join(created[0].Err, created[1].Err); err != nil {
			return "", "", err
		}
		return created[1].Mailbox.ID, "", nil
	},
	"update-mailbox": one(func(ctx context.Context, c *client.Client, s subjects) (*api.Mailbox, error) {
		return c.UpdateMailbox(ctx, s.mailbox, api.UpdateMailboxBody{FirstName: new("Joan")})
	}),
	"delete-mailbox": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.Mailboxes.Delete(ctx, s.mailbox)
	}),
	"export-mailboxes": func(ctx context.Context, c *client.Client, s subjects) (string, string, error) {
		rows, err := c.ExportMailboxes(ctx, api.ExportMailboxesBody{Mailboxes: []string{s.mailbox}})
		if err != nil {
			return "", "", err
		}
		defer rows.Close()
		text, err := io.ReadAll(rows)
		if err == nil && !strings.Contains(string(text), s.mailbox) {
			err = errors.New("the export lacks the mailbox")
		}
		return "", "", err
	},

	"list-dns-records": all(func(ctx context.Context, c *client.Client, s subjects) iter.Seq2[api.DNSRecord, error] {
		return c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: s.domain})
	}),
	"get-dns-record": one(func(ctx context.Context, c *client.Client, s subjects) (*api.DNSRecord, error) {
		return c.DNSRecords.Get(ctx, s.record)
	}),
	"create-dns-record": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.DNSRecord, error) {
		return c.CreateDNSRecord(ctx, api.CreateDNSRecordBody{Domain: "example.com", Name: "WWW", Type: "A", Value: "192.0.2.1"})
	}),
	"update-dns-record": one(func(ctx context.Context, c *client.Client, s subjects) (*api.DNSRecord, error) {
		return c.UpdateDNSRecord(ctx, s.record, api.UpdateDNSRecordBody{Value: new("mx2.example.net")})
	}),
	"delete-dns-record": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.DNSRecords.Delete(ctx, s.record)
	}),

	"list-forwarding": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.Forwarding, error] {
		return c.ListForwarding(ctx, api.ListForwardingRequest{})
	}),
	"get-forwarding": one(func(ctx context.Context, c *client.Client, s subjects) (*api.Forwarding, error) {
		return c.Forwarding.Get(ctx, s.rule)
	}),
	"create-forwarding": one(func(ctx context.Context, c *client.Client, _ subjects) (*api.Forwarding, error) {
		return c.CreateForwarding(ctx, api.CreateForwardingBody{TargetEmail: "New@example.net"})
	}),
	"update-forwarding": one(func(ctx context.Context, c *client.Client, s subjects) (*api.Forwarding, error) {
		return c.UpdateForwarding(ctx, s.rule, api.UpdateForwardingBody{TargetEmail: "other@example.net"})
	}),
	"set-forwarding-active": one(func(ctx context.Context, c *client.Client, s subjects) (*api.Forwarding, error) {
		return c.SetForwardingActive(ctx, s.rule, false)
	}),
	"delete-forwarding": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.Forwarding.Delete(ctx, s.rule)
	}),

	"list-master-passwords": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.MasterPassword, error] {
		return c.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{})
	}),
	"get-master-password": one(func(ctx context.Context, c *client.Client, s subjects) (*api.MasterPassword, error) {
		return c.MasterPasswords.Get(ctx, s.password)
	}),
	"create-master-password": func(ctx context.Context, c *client.Client, _ subjects) (string, string, error) {
		p, err := c.CreateMasterPassword(ctx, api.CreateMasterPasswordBody{Name: "new", Generate: true})
		if p == nil {
			return "", "", err
		}
		return p.ID, api.Value(p.GeneratedSecret), err
	},
	"rename-master-password": one(func(ctx context.Context, c *client.Client, s subjects) (*api.MasterPassword, error) {
		return c.RenameMasterPassword(ctx, s.password, api.RenameMasterPasswordBody{Name: "renamed"})
	}),
	"delete-master-password": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.MasterPasswords.Delete(ctx, s.password)
	}),

	"list-service-accounts": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.ServiceAccount, error] {
		return c.ListServiceAccounts(ctx)
	}),
	"get-service-account": one(func(ctx context.Context, c *client.Client, s subjects) (*api.ServiceAccount, error) {
		return c.ServiceAccounts.Get(ctx, s.serviceAccount)
	}),
	"create-service-account": func(ctx context.Context, c *client.Client, _ subjects) (string, string, error) {
		a, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{Name: "new"})
		if a == nil {
			return "", "", err
		}
		return a.ID, a.Token, err
	},
	"revoke-service-account": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.ServiceAccounts.Delete(ctx, s.serviceAccount)
	}),

	"list-dedicated-ips": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.DedicatedIP, error] {
		return c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{})
	}),
	"list-dedicated-ip-options": all(func(ctx context.Context, c *client.Client, _ subjects) iter.Seq2[api.DedicatedIPOption, error] {
		return c.ListDedicatedIPOptions(ctx)
	}),
	"get-dedicated-ip": one(func(ctx context.Context, c *client.Client, s subjects) (*api.DedicatedIP, error) {
		return c.DedicatedIPs.Get(ctx, s.ip)
	}),
	"claim-dedicated-ip": one(func(ctx context.Context, c *client.Client, s subjects) (*api.DedicatedIP, error) {
		return c.ClaimDedicatedIP(ctx, sample.Option(s.account, "us"))
	}),
	"release-dedicated-ip": none(func(ctx context.Context, c *client.Client, s subjects) error {
		return c.DedicatedIPs.Delete(ctx, s.ip)
	}),
}

// unused are the operations without a method of the client.
var unused = []string{"create-workspace", "get-workspace", "list-audit-log", "list-creations"}

// one returns the exercise of a call that returns an object.
func one[T any](do func(context.Context, *client.Client, subjects) (*T, error)) exercise {
	return func(ctx context.Context, c *client.Client, s subjects) (string, string, error) {
		v, err := do(ctx, c, s)
		if err != nil {
			return "", "", err
		}
		var o struct {
			ID json.RawMessage `json:"id"`
		}
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &o)
		}
		return strings.Trim(string(o.ID), `"`), "", err
	}
}

// all returns the exercise of a list. The number of its objects takes the place of an id.
func all[T any](list func(context.Context, *client.Client, subjects) iter.Seq2[T, error]) exercise {
	return func(ctx context.Context, c *client.Client, s subjects) (string, string, error) {
		n := 0
		for _, err := range list(ctx, c, s) {
			if err != nil {
				return "", "", err
			}
			n++
		}
		return strconv.Itoa(n) + " objects", "", nil
	}
}

// none returns the exercise of a call that returns nothing.
func none(do func(context.Context, *client.Client, subjects) error) exercise {
	return func(ctx context.Context, c *client.Client, s subjects) (string, string, error) {
		return "", "", do(ctx, c, s)
	}
}

// world is a service with an account, whose content returns to the same state before each exercise.
type world struct {
	*apiservertest.Server
	subjects
	// owner sends every operation, without faults.
	owner                      *apitest.Client
	ignoresKeys, publishedOnly bool
	restore                    func(context.Context) error
}

func newWorld(t *testing.T, ignoresKeys, publishedOnly bool) *world {
	t.Helper()
	w := &world{ignoresKeys: ignoresKeys, publishedOnly: publishedOnly}
	var full *apiserver.Service
	w.Server = apiservertest.Start(t, apiservertest.Configure(func(o *apiserver.Options) {
		var err error
		o.Store, err = sqlite.Open(t.Context(), sqlite.Memory, sqlite.Options{})
		assert.NilError(t, err)
		full, err = apiserver.New(*o)
		assert.NilError(t, err)
		o.PublishedOnly = publishedOnly
		if ignoresKeys {
			o.Middleware = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.Header.Del(api.IdempotencyKeyHeader)
					next.ServeHTTP(w, r)
				})
			}
		}
	}))
	owner := &apitest.Client{T: t, HTTP: full.OwnerClient(w.AccountID), Account: w.AccountID}
	w.owner = owner
	w.subjects = subjects{account: w.AccountID, domain: owner.Domain("example.com"), emptyDomain: owner.Domain("example.org")}
	w.mailbox = owner.Mailbox("example.com", "jane")
	w.record = strconv.Itoa(int(owner.Post("/dns-records", sample.Body(api.CreateDNSRecord.Spec)).Want(201).At("id").(float64)))
	w.rule = owner.Forwarding("jane@example.com", apitest.Object{})
	w.password = owner.Password("ops", apitest.Object{})
	w.serviceAccount = owner.Post("/auth/service-accounts", apitest.Object{"name": "ci"}).Want(201).Str("id")
	w.ip = owner.Post("/dedicated-ips/claim", apitest.Object{"option_id": owner.Option("eu")}).Want(201).Str("id")
	w.grant = owner.GrantTo("user", "u", apitest.Grant{Capability: vocab.CapMailboxView})
	var err error
	w.restore, err = w.Service.Snapshot(t.Context())
	assert.NilError(t, err)
	return w
}

// content returns the content of the account, with its creates and payments.
func (w *world) content(t *testing.T) string {
	t.Helper()
	var keyed []string
	for _, e := range w.owner.In(t).Changes() {
		if slices.ContainsFunc(api.Specs(), func(s api.Spec) bool { return s.ID == e.Operation && s.Keyed() }) {
			keyed = append(keyed, e.Operation)
		}
	}
	return apitest.Content(t, w.Service) + "\n" + strings.Join(keyed, "\n")
}

// has reports whether an object was created in the account.
func (w *world) has(t *testing.T, id string) bool {
	t.Helper()
	return slices.ContainsFunc(w.owner.In(t).Changes(), func(e api.AuditEntry) bool {
		return slices.ContainsFunc(e.Changes, func(c api.AuditChange) bool { return c.Action == "created" && c.ID == id })
	})
}

// network is an http.RoundTripper between a client and the service.
type network struct {
	*world

	next http.RoundTripper
	// timesOut loses the first request with the method in a timeout: "before" or "after" the service
	// executes it, or "late": late executes it after the call.
	method, timesOut string
	late             func()
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if n.timesOut == "" || r.Method != n.method {
		return n.next.RoundTrip(r)
	}
	fate := n.timesOut
	n.timesOut = ""
	body, err := io.ReadAll(bodyOf(r))
	if err != nil {
		return nil, err
	}
	send := func() {
		again := r.Clone(context.WithoutCancel(r.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		if resp, err := n.next.RoundTrip(again); err == nil {
			_ = resp.Body.Close()
		}
	}
	switch fate {
	case "after":
		send()
	case "late":
		n.late = send
	}
	limit := 90 * time.Second
	if r.Method == http.MethodGet {
		limit = 30 * time.Second
	}
	if err := n.Clock.Advance(limit); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("no response within %s", limit)
}

func bodyOf(r *http.Request) io.Reader {
	if r.Body == nil {
		return http.NoBody
	}
	return r.Body
}

// connect returns a client of the service, on the service's clock.
func (w *world) connect(n *network) *client.Client {
	n.world, n.next = w, w.Service.Client().Transport
	return client.New(client.Options{
		BaseURL: "http://in-process", AccountID: w.AccountID, Token: w.Token, Transport: n,
		Hooks: client.Hooks{
			Now: w.Clock.Now, Jitter: func(d time.Duration) time.Duration { return d },
			Sleep: func(ctx context.Context, d time.Duration) error {
				if err := w.Clock.Advance(d); err != nil {
					return err
				}
				return ctx.Err()
			},
		},
	})
}

// loss is a fault that loses or refuses one response: a rule of the service, or a timeout of the network.
type loss struct {
	rule     fault.Rule
	timesOut string
	// refuses: the operation fails and has no effect.
	refuses bool
	// isVariant: the client treats it like another one. Short tests leave it out.
	isVariant bool
}

var losses = map[string]loss{
	"broken before":      {rule: fault.Rule{Drop: fault.Before}},
	"broken after":       {rule: fault.Rule{Drop: fault.After}},
	"500 before":         {rule: fault.Rule{Status: 500}},
	"500 after":          {rule: fault.Rule{Status: 500, After: true}},
	"502 page before":    {rule: fault.Rule{Status: 502, HTML: true}, isVariant: true},
	"502 page after":     {rule: fault.Rule{Status: 502, HTML: true, After: true}, isVariant: true},
	"503 before":         {rule: fault.Rule{Status: 503}, isVariant: true},
	"503 after":          {rule: fault.Rule{Status: 503, After: true}, isVariant: true},
	"503 busy":           {rule: fault.Rule{Status: 503, RetryAfter: 2}},
	"504 after":          {rule: fault.Rule{Status: 504, After: true}, isVariant: true},
	"408 after":          {rule: fault.Rule{Status: 408, After: true}, isVariant: true},
	"429":                {rule: fault.Rule{Status: 429, RetryAfter: 2}, isVariant: true},
	"403 page after":     {rule: fault.Rule{Status: 403, HTML: true, After: true}},
	"404 page before":    {rule: fault.Rule{Status: 404, HTML: true}},
	"truncated at 0":     {rule: fault.Rule{Truncate: new(0)}, isVariant: true},
	"truncated at 20":    {rule: fault.Rule{Truncate: new(20)}},
	"403":                {rule: fault.Rule{Status: 403}, refuses: true},
	"time-out before":    {timesOut: "before"},
	"time-out after":     {timesOut: "after"},
	"time-out, executed": {timesOut: "late"},
}

// TestLostResponses sends each operation of the contract and loses or refuses its response, in each way
// and once, to an API that honours Idempotency-Keys, one that ignores them, and one with the published
// operations only. The operation succeeds, or fails and nothing is lost or made twice; when it is repeated
// as by the next apply, the account has the same content as without the fault.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	for _, op := range api.Specs() {
		assert.Check(t, exercises[op.ID] != nil != slices.Contains(unused, op.ID), "%s: add it to exercises or, without a method of the client, to unused", op.ID)
	}
	for _, mode := range []struct {
		name                       string
		ignoresKeys, publishedOnly bool
	}{{"keys", false, false}, {"no keys", true, false}, {"published", true, true}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mode.ignoresKeys, mode.publishedOnly)
			before := w.content(t)
			for _, op := range api.Specs() {
				if do := exercises[op.ID]; do != nil {
					w.exercise(t, op, do, before)
				}
			}
		})
	}
}

// mayFail reports whether one lost response may leave an unknown outcome or a lost secret.
func (w *world) mayFail(op api.Spec, l loss) bool {
	switch op.ID {
	case api.CancelPlan.ID, api.ChangePlan.ID: // what is paid for is not resent without a lookup, which they lack
		return true
	case api.CreateServiceAccount.ID, api.CreateMasterPassword.ID, api.SubmitFeedback.ID:
		return w.ignoresKeys
	case api.PurchaseDomains.ID, api.ClaimDedicatedIP.ID:
		return w.ignoresKeys && l.timesOut != ""
	case api.CreateDNSRecord.ID:
		return w.publishedOnly // without a list
	}
	return false
}

func (w *world) exercise(t *testing.T, op api.Spec, do exercise, before string) {
	t.Helper()
	lacks := w.publishedOnly && op.Lifecycle()
	restore := func() {
		w.Faults.Clear()
		w.Journal.Clear()
		if op.Changes() {
			assert.NilError(t, w.restore(t.Context()))
		}
	}
	defer restore()
	content := func() string {
		if op.Changes() {
			return w.content(t)
		}
		return before
	}
	restore()
	_, _, plain := do(t.Context(), w.connect(new(network)), w.subjects)
	after := content()
	isSent := slices.ContainsFunc(w.Journal.Entries(journal.Filter{}), func(e journal.Entry) bool { return e.Operation == op.ID })
	assert.Assert(t, lacks && (plain == nil || client.IsUnsupported(plain)) || plain == nil && isSent, "%s without a fault: sent %t, %v", op.ID, isSent, plain)
	for _, name := range slices.Sorted(maps.Keys(losses)) {
		loss := losses[name]
		if loss.isVariant && testing.Short() || loss.rule.Truncate != nil && op.Status == http.StatusNoContent {
			continue
		}
		restore()
		n := &network{method: op.Method, timesOut: loss.timesOut}
		if loss.timesOut == "" {
			loss.rule.Operation, loss.rule.Nth = op.ID, 1
			_, err := w.Faults.Add(loss.rule)
			assert.NilError(t, err)
		}
		id, secret, err := do(t.Context(), w.connect(n), w.subjects)
		isHit := loss.timesOut != "" && n.timesOut == "" || loss.timesOut == "" && w.Faults.Rules()[0].Fired == 1
		if n.late != nil {
			n.late()
		}
		w.Faults.Clear()
		now := content()
		fail := func(format string, args ...any) {
			t.Helper()
			t.Errorf("%s, %s: %s (error %v)", op.ID, name, fmt.Sprintf(format, args...), err)
		}
		_, isUnknown := errors.AsType[*client.UnknownOutcomeError](err)
		lost, isLost := errors.AsType[*client.SecretLostError](err)
		switch {
		case op.ID == api.ExportMailboxes.ID && loss.rule.Truncate != nil: // the caller reads the response
			continue
		case !isHit && !lacks:
			fail("the fault did not happen")
		case lacks && client.IsUnsupported(err) && now == before:
			continue
		case err == nil && now != after:
			fail("it succeeded, and the account is not as without the fault:\n%s", apitest.ChangedLines(after, now))
		case err == nil && op.Keyed() && id != "" && !w.has(t, id) && op.Kind.Tag != api.CancelPlan.Kind.Tag && op.ID != "submit-feedback":
			fail("it returned the id %s, which no object has", id)
		case err == nil && strings.HasPrefix(op.ID, "create-") && (op.ID == "create-service-account" || op.ID == "create-master-password") && secret == "":
			fail("it succeeded without the secret")
		case err == nil && loss.refuses && !lacks:
			fail("it succeeded")
		case err != nil && now != before && now != after:
			fail("something else was changed:\n%s", apitest.ChangedLines(after, now))
		case err != nil && loss.refuses && now != before:
			fail("it was refused, and changed something")
		case isLost && (now != after || len(lost.IDs) != 1 || !w.has(t, lost.IDs[0])):
			fail("the error names another object than the one that exists")
		case err != nil && now == after && after != before && !isUnknown && !isLost:
			fail("it was executed, and the error does not say so")
		}
		if err == nil {
			continue
		}
		if !loss.refuses && !lacks && !(isUnknown || isLost) || (isUnknown || isLost) && !w.mayFail(op, loss) {
			fail("one lost response failed it")
		}
		if now == before { // as the next apply repeats it
			_, _, again := do(t.Context(), w.connect(new(network)), w.subjects)
			repeated := content()
			assert.Check(t, (again == nil || lacks && client.IsUnsupported(again)) && repeated == after, "%s, %s: repeated after %v: %v\n%s", op.ID, name, err, again, apitest.ChangedLines(after, repeated))
		}
	}
}
