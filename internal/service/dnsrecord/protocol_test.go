package dnsrecord_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_dns_record"

func www(value any) map[string]any {
	return map[string]any{"domain": "example.com", "name": "www", "type": "A", "value": value}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	made, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
	p.NoErrors(diags)
	id := p.IdentityOf(typeName, made)
	if id["id"] == "" || id["id"] != made.Text("id") || id["account_id"] != s.AccountID {
		t.Fatalf("identity %v of the record %s", id, made.Text("id"))
	}
	changed, diags := p.Apply(t.Context(), typeName, www("192.0.2.2"), made)
	p.NoErrors(diags)
	if got := p.IdentityOf(typeName, changed); got["id"] != id["id"] {
		t.Errorf("identity after an update: %v", got)
	}

	imported, diags := p.Import(typeName, "", map[string]any{"id": id["id"]})
	p.NoErrors(diags)
	if imported.Text("domain") != "example.com" || imported.Text("fqdn") != "www.example.com" || p.IdentityOf(typeName, imported)["account_id"] != s.AccountID {
		t.Errorf("imported %s with the identity %v", imported.State, p.IdentityOf(typeName, imported))
	}
	if _, diags := p.Import(typeName, "", map[string]any{"id": "www"}); !told(diags, "The id of a DNS record is a number") {
		t.Errorf("import by a wrong identity: %v", diags)
	}

	_, diags = p.Apply(t.Context(), typeName, nil, changed)
	p.NoErrors(diags)
	gone, diags := p.Read(typeName, changed)
	p.NoErrors(diags)
	if !gone.Gone() || p.IdentityOf(typeName, gone)["id"] != id["id"] {
		t.Errorf("a record that is gone reads as %s with the identity %v", gone.State, p.IdentityOf(typeName, gone))
	}
}

// What is not known yet is no reason for an empty plan, nor for an error.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	made, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
	p.NoErrors(diags)
	plan, diags := p.Plan(typeName, www(acctest.Unknown), made)
	p.NoErrors(diags)
	if plan.Text("value") != "(unknown)" || plan.Text("id") != made.Text("id") || len(plan.Replace) > 0 {
		t.Errorf("an unknown value plans %s, replacing %v", plan.State, plan.Replace)
	}
	p.NoErrors(p.Validate(typeName, map[string]any{
		"domain": acctest.Unknown, "name": acctest.Unknown, "type": acctest.Unknown, "value": acctest.Unknown, "ttl": acctest.Unknown, "priority": acctest.Unknown,
	}))
	p.NoErrors(p.Validate(typeName, map[string]any{"domain": "example.com", "name": "www", "type": acctest.Unknown, "value": "mail.example.com", "priority": 10}))
	p.NoErrors(p.Validate(typeName, map[string]any{"domain": "example.com", "name": "www", "type": "MX", "value": acctest.Unknown, "priority": acctest.Unknown}))
	if diags := p.Validate(typeName, map[string]any{"domain": acctest.Unknown, "name": "www", "type": acctest.Unknown, "value": "\x00"}); !told(diags, "No record type takes it") {
		t.Errorf("a value that no type takes: %v", diags)
	}
}

func TestDestroyWarnsOfWhatRemains(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	made, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
	p.NoErrors(diags)
	gone, diags := p.Apply(t.Context(), typeName, nil, made)
	p.NoErrors(diags)
	if !gone.Gone() || !told(diags, "The A record www of example.com still exists") || !told(diags, "Its id is "+made.Text("id")) || told(diags, "can import it") {
		t.Errorf("a destroy says %v", diags)
	}
}

// A field of the request that has another name than the attribute.
func TestAPIErrorLandsOnTheAttribute(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, before(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(`{"detail":[{"loc":["body","prio"],"msg":"Value error, too far","type":"value_error"}]}`))
		return true
	}))
	made, diags := p.Apply(t.Context(), typeName, map[string]any{"domain": "example.com", "name": "sub", "type": "MX", "value": "mx.example.net", "priority": 7}, nil)
	if !made.Gone() || len(diags) != 1 || diags[0].Attribute.String() != `AttributeName("priority")` || !told(diags, "Too far.") {
		t.Errorf("the API's refusal is told as %v", diags)
	}
}

// A look after a lost answer must not take a record of the domain for ours.
func TestLostAnswerTakesNoSystemManagedRecord(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	var posts atomic.Int32
	p := s.Protocol(t, before(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		lost := r.Method == http.MethodPost && posts.Add(1) == 1
		if lost {
			w.WriteHeader(http.StatusBadGateway)
		}
		return lost
	}))
	made, diags := p.Apply(t.Context(), typeName, map[string]any{"domain": "example.com", "name": "_dmarc", "type": "TXT", "value": "v=DMARC1; p=none"}, nil)
	if !made.Gone() || !told(diags, "system-managed") || !told(diags, "needs no resource") {
		t.Errorf("the record is %s, and this was told: %v", made.State, diags)
	}
}

// A credential that may manage records but not see domains.
func TestDomainOutOfSight(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	p := s.Protocol(t, before(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		hidden := strings.Contains(r.URL.Path, "/domains")
		if hidden {
			w.WriteHeader(http.StatusForbidden)
		}
		return hidden
	}))
	config := map[string]any{"domain": "Example.com", "name": "www.example.com", "type": "A", "value": "192.0.2.1"}
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	if made.Text("domain_name") != "example.com" || made.Text("fqdn") != "www.example.com" || made.Text("domain_id") != "" {
		t.Errorf("created %s", made.State)
	}
	read, diags := p.Read(typeName, made)
	p.NoErrors(diags)
	if plan, _ := p.Plan(typeName, config, read); !plan.State.Equal(made.State) {
		t.Errorf("the second plan is %s", plan.State)
	}
	config["domain"] = d.ID
	if _, diags := p.Apply(t.Context(), typeName, config, nil); !told(diags, "Can't look up the domain") {
		t.Errorf("a domain that is out of sight, by its id: %v", diags)
	}
}

// before serves what a server serves, after a look at the request.
func before(t *testing.T, s *acctest.Server, answer func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answer(w, r) {
			s.Service.Handler().ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// told reports whether a diagnostic says something.
func told(diags []*tfprotov6.Diagnostic, words string) bool {
	for _, d := range diags {
		if strings.Contains(d.Summary+"\n"+d.Detail, words) {
			return true
		}
	}
	return false
}
