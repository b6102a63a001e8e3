package mailbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_mailbox"

// attributes returns a configuration of a mailbox, with changes.
func attributes(changes map[string]any) map[string]any {
	all := map[string]any{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}
	maps.Copy(all, changes)
	return all
}

// TestUpdateSendsOnlyWhatChanged also covers an update without changes for the API.
func TestUpdateSendsOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	var mu sync.Mutex
	var sent []map[string]any
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPatch {
			body, _ := io.ReadAll(r.Body)
			fields := map[string]any{}
			_ = json.Unmarshal(body, &fields)
			mu.Lock()
			sent = append(sent, fields)
			mu.Unlock()
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		next.ServeHTTP(w, r)
	}))
	o, diags := p.Apply(t.Context(), typeName, attributes(nil), nil)
	p.NoErrors(diags)
	updated := o.Text("updated_at")

	o, diags = p.Apply(t.Context(), typeName, attributes(map[string]any{"timeouts": map[string]any{"create": "5m"}}), o)
	p.NoErrors(diags)
	assert.Check(t, len(sent) == 0 && o.Text("updated_at") == updated, "other timeouts were sent: %v, updated_at is %s", sent, o.Text("updated_at"))
	_, diags = p.Apply(t.Context(), typeName, attributes(map[string]any{"last_name": "Roe"}), o)
	p.NoErrors(diags)
	assert.Check(t, len(sent) == 1 && len(sent[0]) == 1 && sent[0]["last_name"] == "Roe", "sent %v, want last_name alone", sent)
}

// TestUnknownAddress checks that an address with unknown parts replaces the mailbox only if a known
// part differs, or the plan replaces its domain.
func TestUnknownAddress(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, attributes(nil), nil)
	p.NoErrors(diags)
	for name, c := range map[string]struct {
		changes  map[string]any
		replaced int
	}{
		"domain":          {map[string]any{"domain": acctest.Unknown}, 0},
		"both":            {map[string]any{"domain": acctest.Unknown, "local_part": acctest.Unknown}, 0},
		"another as well": {map[string]any{"domain": acctest.Unknown, "local_part": "john"}, 1},
		"other spellings": {map[string]any{"domain": "Example.COM.", "local_part": "JANE", "first_name": acctest.Unknown}, 0},
	} {
		plan, diags := p.Plan(typeName, attributes(c.changes), o)
		p.NoErrors(diags)
		assert.Check(t, len(plan.Replace) == c.replaced && len(diags) == c.replaced && plan.Text("id") == o.Text("id"), "%s: replaced because of %v, %s", name, plan.Replace, acctest.Render(diags))
	}
	domain, diags := p.Import("mailhost_domain", "example.com", nil)
	p.NoErrors(diags)
	domain, diags = p.Read("mailhost_domain", domain)
	p.NoErrors(diags)
	walk := p.Together()
	_, diags = walk.Plan("mailhost_domain", map[string]any{"name": "example.net"}, domain)
	acctest.Expect(t, diags, "The plan replaces the domain example.com")
	plan, diags := walk.Plan(typeName, attributes(map[string]any{"domain": acctest.Unknown}), o)
	acctest.Expect(t, diags, "WARNING: The plan replaces the mailbox jane@example.com", "mail in it is lost")
	assert.Check(t, len(plan.Replace) == 1, "replaced because of %v", plan.Replace)
}

// TestUnusableDomain checks that the error about an unpaid domain does not suggest to
// import a mailbox.
func TestUnusableDomain(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{Registrar: apiserver.Registrar{PaymentNeeded: true}})
	s.Domain(t, "example.com")
	_, diags := s.Protocol(t, "").Apply(t.Context(), typeName, attributes(nil), nil)
	acctest.Expect(t, diags, "ERROR: Can't create the mailbox jane@example.com", "pending_payment", "Pay for the domain example.com")
	got := acctest.Render(diags)
	assert.Check(t, !strings.Contains(got, "import it"), "the error is %s", got)
}

// TestExistingAddress plans and applies a mailbox with an existing address.
func TestExistingAddress(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	s.Domain(t, "example.org")
	id := s.Mailbox(t, "example.com", "jane").ID
	// This API ignores the filter of a list.
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		query := r.URL.Query()
		query.Del("domain")
		r.URL.RawQuery = query.Encode()
		next.ServeHTTP(w, r)
	}))
	type values = map[string]any
	for name, c := range map[string]struct {
		changes values
		want    []string // parts of the plan's diagnostics; nil: no diagnostics
	}{
		"refused":            {nil, []string{"ERROR", "mailbox jane@example.com", id, "on_existing"}},
		"by id":              {values{"domain": d.ID, "local_part": "JANE"}, []string{"ERROR", "mailbox jane@example.com", id}},
		"adopted":            {values{"on_existing": "adopt"}, []string{"WARNING", "jane@example.com"}},
		"adopted, renamed":   {values{"on_existing": "adopt", "first_name": "Joan", "last_name": "Roe"}, []string{"WARNING", "first_name from Jane to Joan", "last_name from Doe to Roe"}},
		"an unknown name":    {values{"on_existing": "adopt", "first_name": acctest.Unknown}, []string{"WARNING", "first_name from Jane to a value that is known after the apply"}},
		"another domain":     {values{"domain": "example.org"}, nil},
		"another local part": {values{"local_part": "john"}, nil},
		"unknown local part": {values{"local_part": acctest.Unknown}, nil},
		"unknown domain":     {values{"domain": acctest.Unknown}, nil},
	} {
		_, diags := p.Walk().Plan(typeName, attributes(c.changes), nil)
		text := acctest.Render(diags)
		if acctest.ExpectText(t, text, c.want...); len(c.want) == 0 && text != "" {
			t.Errorf("%s: the plan says %s", name, text)
		}
	}
	sent := func(changes values, want string, ops ...string) *acctest.Object {
		t.Helper()
		plan, _ := p.Walk().Plan(typeName, attributes(changes), nil)
		before := len(s.Sent())
		o, diags := p.Walk().ApplyPlan(t.Context(), typeName, attributes(changes), nil, plan)
		if acctest.ExpectText(t, acctest.Render(diags), want); (want == "") != (len(diags) == 0) || !slices.Equal(s.Sent()[before:], ops) {
			t.Errorf("%v: sent %q\n%s", changes, s.Sent()[before:], acctest.Render(diags))
		}
		return o
	}
	for _, changes := range []values{{"on_existing": "adopt"}, {"on_existing": "adopt", "domain": d.ID}} {
		o := sent(changes, "")
		assert.Check(t, o.Text("id") == id && o.Text("primary_email") == "jane@example.com", "adopted %s", o.State)
	}
	o := sent(values{"on_existing": "adopt", "last_name": "Roe"}, "", "update-mailbox")
	assert.Check(t, o.Text("id") == id && o.Text("last_name") == "Roe", "adopted %s", o.State)
	sent(values{"on_existing": "adopt", "local_part": "john"}, "", "create-mailbox")
	s.Fault(t, fault.Rule{Operation: "update-mailbox", Status: http.StatusForbidden})
	sent(values{"on_existing": "adopt"}, "403", "update-mailbox")
	s.Fault(t, fault.Rule{Operation: "get-domain", Status: http.StatusForbidden})
	sent(values{"on_existing": "adopt", "local_part": "mary"}, "403")
	s.Faults.Clear()
	// Somebody creates the address after the plan.
	for domain, problem := range map[string]string{d.ID: "mary", "example.com": "mike"} {
		plan, diags := p.Walk().Plan(typeName, attributes(values{"domain": domain, "local_part": problem}), nil)
		p.NoErrors(diags)
		s.Mailbox(t, "example.com", problem)
		_, diags = p.Walk().ApplyPlan(t.Context(), typeName, attributes(values{"domain": domain, "local_part": problem}), nil, plan)
		acctest.Expect(t, diags, "ERROR: Can't create the mailbox "+problem, "The mailbox exists.", "choose another local_part", problem+"@example.com")
	}
}

// TestListStopsAtTheLimit counts the API's requests for a limited list.
func TestListStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	for i := range 12 {
		s.Mailbox(t, "example.com", fmt.Sprintf("m%02d", i))
	}
	var pages atomic.Int64
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/mailboxes") {
			pages.Add(1)
			query := r.URL.Query()
			query.Set("page_size", "5")
			r.URL.RawQuery = query.Encode()
		}
		next.ServeHTTP(w, r)
	}))
	listed, diags := p.List(typeName, nil, 10)
	p.NoErrors(diags)
	assert.Check(t, len(listed) == 10 && pages.Load() == 2, "listed %d in %d pages, want 10 in two", len(listed), pages.Load())
	listed, diags = p.List(typeName, nil, 0)
	p.NoErrors(diags)
	assert.Check(t, len(listed) == 12, "listed %d without a limit, want 12", len(listed))
}
