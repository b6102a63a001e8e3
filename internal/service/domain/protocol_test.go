package domain_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
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

// TestGoneBeforeTheUpdate deletes a domain between the plan and the apply: the apply fails, and
// the domain stays in the state until the next refresh.
func TestGoneBeforeTheUpdate(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	created, diags := p.Apply(t.Context(), domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)
	config := attributes("example.com", map[string]any{"auto_renew": true})
	plan, diags := p.Walk().Plan(domainType, config, created)
	p.NoErrors(diags)
	assert.NilError(t, s.Client.Domains.Delete(t.Context(), "example.com"))
	o, diags := p.ApplyPlan(t.Context(), domainType, config, created, plan)
	acctest.Expect(t, diags, "ERROR", "Can't update the domain example.com", "HTTP 404", "run apply again: the next plan creates it again")
	assert.Check(t, o.Text("id") == created.Text("id"), "the state has %s", o.State)
}

// get reads a domain of the account.
func get(t *testing.T, s *acctest.Server, name string) *api.Domain {
	t.Helper()
	d, err := s.Client.Domains.Get(t.Context(), name)
	assert.NilError(t, err)
	return d
}

// TestListed imports a listed domain, which counts as adopted, and moves it to another workspace.
func TestListed(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	s.Domain(t, "example.com")
	s.Domain(t, "example.net")
	o := &p.ExpectListed(t, domainType, nil, "example.com", "example.net")[0].Object
	imported, diags := p.Import(domainType, "example.com", nil)
	p.NoErrors(diags)
	assert.Check(t, o.Text("acquisition") == "adopt" && imported.Text("acquisition") == "adopt", "%s, %s", o.State, imported.State)
	_, diags = p.Plan(domainType, attributes("example.net", map[string]any{"on_existing": "adopt"}), o)
	acctest.Expect(t, diags, "WARNING: The plan replaces the domain example.com", "The plan adopts the domain example.net")
	target := s.Owner(t).Workspace("other")
	config := attributes("example.com", map[string]any{"workspace_id": target})
	s.Mailbox(t, "example.net", "archive")
	s.Owner(t).Password("Migration", map[string]any{"workspace_id": target})
	s.Owner(t).Forwarding("archive@example.net", map[string]any{"workspace_id": s.WorkspaceID})
	_, diags = p.Plan(domainType, config, o)
	acctest.Expect(t, diags, "The plan moves the domain example.com to another workspace", `from the apply on: the master password "Migration"`,
		"no longer: the forwarding rule to archive@example.net", "Concerns: access, reach")
	moved, diags := p.Apply(t.Context(), domainType, config, o)
	p.NoErrors(diags)
	assert.Check(t, get(t, s, "example.com").WorkspaceID == config["workspace_id"] && moved.Text("workspace_id") == config["workspace_id"], "%s", moved.State)
	unknown := s.ProtocolOfUnknownToken(t)
	for _, prior := range []*acctest.Object{nil, o} {
		_, diags = unknown.Apply(t.Context(), domainType, config, prior)
		acctest.Expect(t, diags, "ERROR")
	}
	_, diags = unknown.Plan(domainType, nil, o)
	acctest.Expect(t, diags, "WARNING: The plan destroys the domain example.com", "there is no refund")
}

// TestPurchaseIsAnnounced checks that the plan of a purchase shows the price, and
// says if the domain was bought before.
func TestPurchaseIsAnnounced(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		var sent string
		p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if isPurchase(r) {
				body, _ := io.ReadAll(r.Body)
				sent, r.Body = string(body), io.NopCloser(bytes.NewReader(body))
			}
			next.ServeHTTP(w, r)
		}))
		config := attributes("acme.com", map[string]any{"contact_info": contactAttributes(map[string]any{"country": "de"})})
		price, workspace, loss := "The price is 12.00 USD.", s.WorkspaceID, "The plan destroys the domain acme.com"
		if s.PublishedOnly {
			price, workspace, loss = "The plan can't show the price: the API does not return it.", "(unknown)", "The domain acme.com will still exist"
		}
		plan, diags := p.Plan(domainType, config, nil)
		p.NoErrors(diags)
		acctest.Expect(t, diags, `WARNING at AttributeName("name"): The plan buys the domain acme.com`+"\n", "does not own acme.com", price, "no refund", "account_id")
		assert.Check(t, plan.Text("acquisition") == "purchase" && plan.Text("workspace_id") == workspace && (s.PublishedOnly || plan.Text("purchase_price") == "12.00 USD"), "planned %s", plan.State)
		config["workspace_id"] = strings.ToUpper(s.WorkspaceID)
		o, diags := p.Apply(t.Context(), domainType, config, nil)
		assert.Check(t, len(diags) == 0 && o.Text("acquisition") == "purchase" && (s.PublishedOnly || o.Text("purchase_price") == "12.00 USD"), "%s: %s", o.State, acctest.Render(diags))
		assert.Check(t, o.Text("workspace_id") == config["workspace_id"], "not as planned: %s", o.State)
		assert.Check(t, strings.Contains(sent, `"country":"DE"`), sent)
		for isRenewed, ending := range map[bool]string{true: "charged again", false: "until its registration ends"} {
			_, diags = p.Plan(domainType, nil, p.With(domainType, o, "auto_renew", isRenewed))
			acctest.Expect(t, diags, "WARNING: "+loss)
			assert.Check(t, len(diags) == 1 && strings.Contains(acctest.Render(diags), ending) == s.PublishedOnly, "%s", acctest.Render(diags))
		}
		other := "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
		plan, diags = p.Plan(domainType, attributes("other.com", map[string]any{"workspace_id": other}), o)
		replaced := "The plan replaces the domain acme.com"
		if s.PublishedOnly {
			replaced = loss
		}
		acctest.Expect(t, diags, "WARNING: "+replaced, "The plan buys the domain other.com")
		assert.Check(t, strings.Contains(acctest.Render(diags), loss) == s.PublishedOnly && plan.Text("workspace_id") == other, "%s: %s", plan.State, acctest.Render(diags))
		assert.NilError(t, s.Client.Domains.Delete(t.Context(), "acme.com"))
		p.Together()
		gone, diags := p.Read(domainType, o)
		p.NoErrors(diags)
		assert.Assert(t, gone.Gone(), "it is in the state")
		_, diags = p.Plan(domainType, config, nil)
		acctest.Expect(t, diags, "WARNING", "The plan buys the domain acme.com again\n", "was in the state", "deleted outside Terraform", price)
	})
}

// TestUnread buys and changes a domain that can't be read afterwards: the state contains the known values.
func TestUnread(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	plan, diags := p.Plan(domainType, attributes("example.com", nil), nil)
	p.NoErrors(diags)
	s.Fault(t, fault.Rule{Operation: "get-domain", Status: 403})
	bought, diags := p.Walk().ApplyPlan(t.Context(), domainType, attributes("example.com", nil), nil, plan)
	acctest.Expect(t, diags, "WARNING: The domain example.com is not ready yet", "its status is pending")
	assert.Check(t, bought.Text("status") == "pending" && bought.Text("id") == get(t, s, "example.com").ID, "%s", bought.State)
	s.Faults.Clear()
	o, diags := p.Read(domainType, bought)
	p.NoErrors(diags)
	renewed := attributes("example.com", map[string]any{"auto_renew": true})
	plan, diags = p.Plan(domainType, renewed, o)
	p.NoErrors(diags)
	s.Fault(t, fault.Rule{Operation: "get-domain", Status: 403})
	changed, diags := p.Walk().ApplyPlan(t.Context(), domainType, renewed, o, plan)
	p.NoErrors(diags)
	assert.Check(t, changed.Text("updated_at") == o.Text("updated_at") && get(t, s, "example.com").AutoRenew, "%s", changed.State)
}
