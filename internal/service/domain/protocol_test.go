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

// attributes is a configuration that buys a domain, with changes; nil takes an

// attribute out.

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

// The identity survives a read that finds the domain gone, and an import in any

// spelling leads to the same identity.

func TestDomainIdentity(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	created, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)
	id := p.IdentityOf(domainType, created)
	if id["id"] != created.Text("id") || id["id"] == "" || id["account_id"] != s.AccountID {
		t.Fatalf("identity %v of %s", id, created.Text("id"))
	}

	byIdentity, diags := p.Import(domainType, "", map[string]any{"id": strings.ToUpper(id["id"])})
	p.NoErrors(diags)
	byName, diags := p.Import(domainType, "EXAMPLE.com.", nil)
	p.NoErrors(diags)
	for _, imported := range []*acctest.Object{byIdentity, byName} {
		for range 2 { // an identity must not change from one read to the next
			imported, diags = p.Read(domainType, imported)
			p.NoErrors(diags)
		}
		if got := p.IdentityOf(domainType, imported); got["id"] != id["id"] || imported.Text("name") != "example.com" {
			t.Errorf("imported %v %s", got, imported.Text("name"))
		}
	}
	_, diags = p.Import(domainType, "", map[string]any{"id": id["id"], "account_id": "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"})
	acctest.Expect(t, diags, "ERROR", "Import from another account")

	if err := s.Client.DeleteDomain(t.Context(), "example.com"); err != nil {
		t.Fatal(err)
	}
	created.Identity = nil // as a state has it that an older Terraform wrote
	gone, diags := p.Read(domainType, created)
	p.NoErrors(diags)
	if !gone.Gone() || p.IdentityOf(domainType, gone)["id"] != id["id"] {
		t.Errorf("after the read: %v, %v", gone.State, p.IdentityOf(domainType, gone))
	}
}

// What an API answers that the provider did not foresee lands where it was

// written, too.

// A purchase that waits for a payment, or for the registry, is no error: an

// error would have it replaced.

// The registry refuses a domain that was bought: an error that keeps it; one

// that was there before is not taken into the state.

// What the lists can't tell is told, and nothing is bought twice.

// Settings that fail after the purchase leave the domain in the state.

// An update whose consequences can't be read has been done all the same.

func TestDomainUpdateNotReadBack(t *testing.T) {
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

// The list that is looked at before a purchase may be older than the domain.

func TestDomainDelete(t *testing.T) {
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
	acctest.Expect(t, diags, "WARNING: The plan gives up the domain example.com", "what was paid for it is not paid back", "destroy = false")
	_, diags = p.Apply(t.Context(), domainType, nil, o)
	acctest.Expect(t, diags, "ERROR: Can't delete the domain example.com\n", "still has mailboxes (1)", "Nothing was deleted", "terraform state rm")
	if strings.Contains(acctest.Render(diags), "import it") {
		t.Errorf("advice for a create: %s", acctest.Render(diags))
	}
	if err := s.Client.DeleteMailbox(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is gone already
		gone, diags := p.Apply(t.Context(), domainType, nil, o)
		p.NoErrors(diags)
		if !gone.Gone() {
			t.Error("it is in the state")
		}
	}
}

func TestDomainRemains(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", map[string]any{"auto_renew": true}), nil)
	p.NoErrors(diags)
	gone, diags := p.Apply(t.Context(), domainType, nil, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING: The domain example.com still exists", o.Text("id"), "renews itself and is paid for again")
	if !gone.Gone() {
		t.Error("it is in the state")
	}
}

func TestDomainPlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)

	plan, diags := p.Plan(domainType, attributes("example.net", nil), o)
	acctest.Expect(t, diags, "WARNING: The plan replaces the domain example.com", "another domain is bought", "undo the change")
	if len(plan.Replace) != 1 {
		t.Errorf("replaced because of %v", plan.Replace)
	}
	_, diags = p.Plan(domainType, attributes("example.com", map[string]any{"contact_info": contactAttributes(map[string]any{"city": "Köln"})}), o)
	acctest.Expect(t, diags, `WARNING at AttributeName("contact_info"): contact_info of example.com is only stored`, "nothing changes at the registrar")

	for _, unknown := range []string{"redirect_url", "workspace_id", "auto_renew", "contact_info"} {
		plan, diags := p.Plan(domainType, attributes("example.com", map[string]any{unknown: acctest.Unknown}), o)
		p.NoErrors(diags)
		if len(diags) > 0 || len(plan.Replace) > 0 || plan.State.IsFullyKnown() || plan.Text("id") != o.Text("id") {
			t.Errorf("%s: %v, %v, %v", unknown, acctest.Render(diags), plan.Replace, plan.State)
		}
	}
}

func TestDomainValidation(t *testing.T) {
	t.Parallel()
	p := acctest.NewServer(t, acctest.Options{}).Protocol(t, "")
	contact := func(name string, v any) map[string]any {
		return map[string]any{"contact_info": contactAttributes(map[string]any{name: v})}
	}
	for name, test := range map[string]struct {
		changes map[string]any
		parts   []string
	}{
		"name":            {map[string]any{"name": "example..com"}, []string{`at AttributeName("name")`, "example.com"}},
		"no dot":          {map[string]any{"name": "localhost"}, []string{`at AttributeName("name")`}},
		"workspace":       {map[string]any{"workspace_id": "Default"}, []string{`at AttributeName("workspace_id")`, "UUID"}},
		"redirect":        {map[string]any{"redirect_url": "www.example.com"}, []string{`at AttributeName("redirect_url")`, "http or https URL"}},
		"long redirect":   {map[string]any{"redirect_url": "https://example.com/" + strings.Repeat("x", 2048)}, []string{`at AttributeName("redirect_url")`, "2048 characters"}},
		"no redirect":     {map[string]any{"redirect_url": ""}, []string{`at AttributeName("redirect_url")`}},
		"phone":           {contact("phone", "030 123456"), []string{`AttributeName("phone")`, "country code"}},
		"country":         {contact("country", "Germany"), []string{`AttributeName("country")`, "ISO 3166", "DE"}},
		"email":           {contact("email", "zoe@"), []string{`AttributeName("email")`, "jane@example.com"}},
		"empty state":     {contact("state", ""), []string{`AttributeName("state")`, "1 to 255 characters"}},
		"long city":       {contact("city", strings.Repeat("x", 256)), []string{`AttributeName("city")`, "it has 256"}},
		"missing zip":     {contact("zip", nil), []string{"zip"}},
		"create timeout":  {map[string]any{"timeouts": map[string]any{"create": "soon"}}, []string{"create"}},
		"unknown is fine": {map[string]any{"name": acctest.Unknown, "redirect_url": acctest.Unknown, "contact_info": acctest.Unknown}, nil},
		"known is fine":   {map[string]any{"name": "Bücher.DE.", "redirect_url": "HTTPS://example.com", "workspace_id": "7F0C1C1E-6f0e-4d8e-9a3c-1f2a3b4c5d6e"}, nil},
	} {
		diags := p.Validate(domainType, attributes("example.com", test.changes))
		text := acctest.Render(diags)
		if (len(test.parts) == 0) != (text == "") {
			t.Errorf("%s: %s", name, text)
			continue
		}
		acctest.Expect(t, diags, test.parts...)
		if strings.Contains(text, "030 123456") || strings.Contains(text, "zoe@") {
			t.Errorf("%s: a sensitive value is in %s", name, text)
		}
	}
}

// An interrupted create keeps what was bought.
