package dnsrecord_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestIdenticalRecordIsAdopted creates a record that exists, as after a destroy without
// lifecycle operations. An API without them makes the resource adopt the record; otherwise
// the error suggests an import.
func TestIdenticalRecordIsAdopted(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		s.Domain(t, "example.com")
		p := s.Protocol(t, "")
		first, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
		p.NoErrors(diags)
		p = s.Protocol(t, "") // a later run
		second, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
		if !s.PublishedOnly {
			acctest.Expect(t, diags, "ERROR", "exists already", "import {")
			if !second.Gone() {
				t.Errorf("the state has %s", second.State)
			}
			return
		}
		p.NoErrors(diags)
		acctest.Expect(t, diags, "WARNING", "existed already", first.Text("id"))
		if second.Text("id") != first.Text("id") || p.IdentityOf(typeName, second)["id"] != first.Text("id") {
			t.Errorf("adopted %s, identity %v; want the id %s", second.State, p.IdentityOf(typeName, second), first.Text("id"))
		}
		second, diags = p.Read(typeName, second)
		p.NoErrors(diags)
		if plan, diags := p.Plan(typeName, www("192.0.2.1"), second); len(diags) > 0 || !plan.State.Equal(second.State) {
			t.Errorf("the next plan is %s\n%s", plan.State, acctest.Render(diags))
		}
	})
}

// TestOtherConflictsAreNoAdoption checks that a conflict without an identical record, or
// without its id, adopts nothing.
func TestOtherConflictsAreNoAdoption(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Domain(t, "example.com")
	var msg string
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/dns-records") {
			acctest.Refuse(w, http.StatusConflict, "body", msg)
			return
		}
		next.ServeHTTP(w, r)
	}))
	for text, adopts := range map[string]bool{
		"an identical A record at www exists already with the id 17":               true,
		"Record already exists (ID: 17)":                                           true,
		"duplicate record, id=17":                                                  true,
		"an identical A record at www exists already":                              false,
		"an identical record exists":                                               false,
		"the name www of example.com has the CNAME record 17; a CNAME excludes it": false,
		"the records with the id 17 and with the id 18 are identical":              false,
		"the domain with the id 17 is locked":                                      false,
		"an identical record has the id 0":                                         false,
		"already exists: request id 5b2e8c1a":                                      false,
	} {
		msg = text
		o, diags := p.Apply(t.Context(), typeName, www("192.0.2.1"), nil)
		if got := !o.Gone() && o.Text("id") == "17"; got != adopts || adopts == (acctest.Errors(diags) > 0) {
			t.Errorf("%q: adopts %t, %s", text, got, acctest.Render(diags))
		}
		if !adopts {
			acctest.Expect(t, diags, "ERROR", "can neither list nor import", "control panel")
		}
	}
}

// TestNoAdoptionFromAnotherResource checks that a record that is configured twice is
// adopted only once.
func TestNoAdoptionFromAnotherResource(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "").Together()
	config, again := www("192.0.2.1"), www("192.0.2.1")
	again["name"] = "WWW.example.com"
	plan, diags := p.Plan(typeName, config, nil)
	p.NoErrors(diags)
	planAgain, diags := p.Plan(typeName, again, nil)
	p.NoErrors(diags)
	_, diags = p.Together().ApplyPlan(t.Context(), typeName, config, nil, plan)
	p.NoErrors(diags)
	o, diags := p.ApplyPlan(t.Context(), typeName, again, nil, planAgain)
	acctest.Expect(t, diags, "ERROR", "Another resource of this configuration manages the A record")
	if !o.Gone() {
		t.Errorf("the state has %s", o.State)
	}
}
