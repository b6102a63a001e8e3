package dnsrecord_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

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
		config := www("192.0.2.1")
		config["on_existing"] = "adopt"
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		if got := !o.Gone() && o.Text("id") == "17"; got != adopts || adopts == (acctest.Errors(diags) > 0) {
			t.Errorf("%q: adopts %t, %s", text, got, acctest.Render(diags))
		}
		if !adopts {
			acctest.Expect(t, diags, "ERROR", "can neither list nor import", "control panel")
		}
	}
}

// TestConflictAfterThePlan checks that the conflict with a record that somebody creates
// between the plan and the apply names it, and its import.
func TestConflictAfterThePlan(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	plan, diags := p.Plan(typeName, www("192.0.2.1"), nil)
	p.NoErrors(diags)
	id := create(t, s, "example.com", "www", "A", "192.0.2.1", "").ID
	_, diags = p.Walk().ApplyPlan(t.Context(), typeName, www("192.0.2.1"), nil, plan)
	acctest.Expect(t, diags, "ERROR", fmt.Sprintf("The record exists, with the id %d. ", id), `id = "example.com/A/www/192.0.2.1"`)
}
