package domain_test

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const domainType = "mailhost_domain"

// attributes returns a configuration that buys a domain, with changes; nil removes an
// attribute.
func attributes(name string, changes map[string]any) map[string]any {
	all := map[string]any{"name": name, "contact_info": contactAttributes(nil)}
	maps.Copy(all, changes)
	return all
}

func contactAttributes(changes map[string]any) map[string]any {
	all := map[string]any{
		"first_name": "Zoë", "last_name": "O'Neil", "organization": "Example GmbH", "email": "zoe@example.org", "phone": "+4930123456",
		"address_1": "Weg 1", "zip": "10115", "city": "Berlin", "state": "BE", "country": "DE",
	}
	maps.Copy(all, changes)
	return all
}

func isPurchase(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/domains/purchase")
}

func isUpdate(r *http.Request) bool { return r.Method == http.MethodPatch }

// TestGoneBeforeTheUpdate checks that a domain that is deleted between the plan and the
// apply is an error and stays in the state. The next refresh removes it, and the next plan
// buys it again.
func TestGoneBeforeTheUpdate(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		created, diags := s.Protocol(t, "").Apply(t.Context(), domainType, attributes("example.com", nil), nil)
		config := attributes("example.com", map[string]any{"auto_renew": true})
		p := s.Protocol(t, "") // a new process has an empty cache
		p.NoErrors(diags)
		plan, diags := p.Plan(domainType, config, created)
		p.NoErrors(diags)
		if err := s.Client.DeleteDomain(t.Context(), "example.com"); err != nil {
			t.Fatal(err)
		}
		o, diags := p.ApplyPlan(t.Context(), domainType, config, created, plan)
		acctest.Expect(t, diags, "ERROR", "Can't update the domain example.com", "HTTP 404", "run apply again: the next plan creates it again")
		if o.Text("id") != created.Text("id") {
			t.Errorf("the state has %s", o.State)
		}
		gone, diags := p.Read(domainType, o)
		p.NoErrors(diags)
		if !gone.Gone() {
			t.Errorf("it is still in the state: %s", gone.State)
		}
		again, diags := p.Apply(t.Context(), domainType, config, nil)
		p.NoErrors(diags)
		if id := again.Text("id"); id == "" || id == created.Text("id") {
			t.Errorf("bought again it is %s", id)
		}
	})
}

// TestUpdateNotReadBack checks that an update is stored even if the read after it fails.
func TestUpdateNotReadBack(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	var refuse atomic.Bool
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if refuse.Load() && r.Method == http.MethodGet {
			acctest.Refuse(w, http.StatusForbidden, "header.authorization", "the credential lacks domain.view")
			return
		}
		next.ServeHTTP(w, r)
	}))
	created, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)
	refuse.Store(true)
	updated, diags := p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"redirect_url": "https://www.example.com/"}), created)
	p.NoErrors(diags)
	if !updated.State.IsFullyKnown() || updated.Text("redirect_url") != "https://www.example.com/" {
		t.Errorf("state %v", updated.State)
	}
	_, diags = p.Read(domainType, updated)
	acctest.Expect(t, diags, "ERROR: Can't read the domain example.com\n", "lacks domain.view", "Use a credential with that capability")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)
	m, err := s.Client.CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: "example.com", LocalPart: "jane", FirstName: "Jane", LastName: "Doe"})
	if err != nil {
		t.Fatal(err)
	}
	_, diags = p.Plan(domainType, nil, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING: The plan destroys the domain example.com", "there is no refund", "The domain has 1 mailbox now", "destroy = false")
	s.Mailbox(t, s.Domain(t, "example.net").Name, "not-counted")
	s.Mailbox(t, "example.com", "john")
	_, diags = p.Plan(domainType, attributes("example.org", nil), o)
	acctest.Expect(t, diags, "WARNING: The plan replaces the domain example.com", "The domain has 2 mailboxes now", "If others remain, it fails")
	if err := s.Client.DeleteMailbox(t.Context(), "john@example.com"); err != nil {
		t.Fatal(err)
	}
	_, diags = p.Apply(t.Context(), domainType, nil, o)
	acctest.Expect(t, diags, "ERROR: Can't delete the domain example.com\n", "still has mailboxes (1)", "The domain was not deleted", "terraform state rm")
	if strings.Contains(acctest.Render(diags), "import it") {
		t.Errorf("advice for a create: %s", acctest.Render(diags))
	}
	if err := s.Client.DeleteMailbox(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is already deleted
		gone, diags := p.Apply(t.Context(), domainType, nil, o)
		p.NoErrors(diags)
		if !gone.Gone() {
			t.Error("it is in the state")
		}
	}
}

func TestRemains(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"auto_renew": true}), nil)
	p.NoErrors(diags)
	gone, diags := p.Destroy(t.Context(), domainType, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING: The domain example.com will still exist", o.Text("id"), "will be renewed and charged again")
	if !gone.Gone() {
		t.Error("it is in the state")
	}
}

// get reads a domain of the account.
func get(t *testing.T, s *acctest.Server, name string) *api.Domain {
	t.Helper()
	d, err := s.Client.GetDomain(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
