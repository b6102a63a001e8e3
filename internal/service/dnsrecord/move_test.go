package dnsrecord_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// slowDeletes serves an API that takes a while for each delete, like a remote one.
func slowDeletes(t *testing.T, s *acctest.Server, delay time.Duration) *acctest.Protocol {
	t.Helper()
	return s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodDelete {
			time.Sleep(delay)
		}
		next.ServeHTTP(w, r)
	}))
}

// moves are records that exclude each other, and that two resources describe in turn.
func moves() map[string][2]map[string]any {
	record := func(name, recordType, value string) map[string]any {
		return map[string]any{"domain": "example.com", "name": name, "type": recordType, "value": value}
	}
	nullMX, mx := record("sub", "MX", "."), record("sub", "MX", "mx.example.net")
	nullMX["priority"], mx["priority"] = 0, 10
	return map[string][2]map[string]any{
		"SPF":               {txt("news", policy), txt("news", "v=spf1 -all")},
		"SPF of the domain": {txt("@", policy), txt("@", "v=spf1 -all")},
		"DMARC":             {txt("_dmarc", "v=DMARC1; p=reject"), txt("_dmarc", "v=DMARC1; p=quarantine")},
		"CNAME to CNAME":    {record("www", "CNAME", "a.example.net"), record("www", "CNAME", "b.example.net")},
		"CNAME to A":        {record("www", "CNAME", "a.example.net"), record("www", "A", "192.0.2.1")},
		"A to CNAME":        {record("www", "A", "192.0.2.1"), record("www", "CNAME", "a.example.net")},
		"null MX":           {nullMX, mx},
	}
}

// TestMove moves a record to another resource in one apply, whichever call of it comes first: the plan
// refuses nothing, and the new record arrives though the delete of the old one takes a while.
func TestMove(t *testing.T) {
	t.Parallel()
	for name, move := range moves() {
		for _, createsFirst := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", createsFirst), func(t *testing.T) {
				t.Parallel()
				s := acctest.NewServer(t, acctest.Options{})
				s.Domain(t, "example.com")
				p := slowDeletes(t, s, 300*time.Millisecond)
				before, after := move[0], move[1]
				old, diags := p.Apply(t.Context(), typeName, before, nil)
				p.NoErrors(diags)

				other, diags := p.Apply(t.Context(), typeName, txt("other", "hello"), nil)
				p.NoErrors(diags)

				// The plan refreshes the old record before or after it plans the new one.
				p.Together()
				_, diags = p.Read(typeName, other)
				p.NoErrors(diags)
				var gone, plan *acctest.Object
				planDelete := func() {
					old, diags = p.Read(typeName, old)
					p.NoErrors(diags)
					gone, diags = p.Plan(typeName, nil, old)
					p.NoErrors(diags)
				}
				planCreate := func() {
					plan, diags = p.Plan(typeName, after, nil)
					p.NoErrors(diags)
				}
				inOrder(createsFirst, planCreate, planDelete)

				p.Together()
				var made *acctest.Object
				var created, deleted []*tfprotov6.Diagnostic
				remove := func() { _, deleted = p.ApplyPlan(t.Context(), typeName, nil, old, gone) }
				create := func() {
					if _, created = p.Plan(typeName, after, nil); acctest.Errors(created) == 0 {
						made, created = p.ApplyPlan(t.Context(), typeName, after, nil, plan)
					}
				}
				var wg sync.WaitGroup
				begin := func(call func()) func() {
					return func() { wg.Go(call); time.Sleep(50 * time.Millisecond) }
				}
				inOrder(createsFirst, begin(create), begin(remove))
				wg.Wait()
				p.NoErrors(created)
				p.NoErrors(deleted)
				p.Walk()
				made, diags = p.Read(typeName, made)
				p.NoErrors(diags)
				next, diags := p.Plan(typeName, after, made)
				assert.Check(t, len(diags) == 0 && next.State.Equal(made.State), "the next plan is %s\n%s", next.State, acctest.Render(diags))
			})
		}
	}
}

// inOrder calls first and second, or second and first.
func inOrder(isFirst bool, first, second func()) {
	if !isFirst {
		first, second = second, first
	}
	first()
	second()
}

// TestMoveOfValues exchanges the purposes of two records in one apply: the update that would make a second
// policy outlasts the other one.
func TestMoveOfValues(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	first, diags := p.Apply(t.Context(), typeName, txt("news", policy), nil)
	p.NoErrors(diags)
	second, diags := p.Apply(t.Context(), typeName, txt("news", "hello"), nil)
	p.NoErrors(diags)
	p.Together()
	var wg sync.WaitGroup
	update := func(o *acctest.Object, value string, delay time.Duration) {
		wg.Go(func() {
			time.Sleep(delay)
			plan, diags := p.Plan(typeName, txt("news", value), o)
			p.NoErrors(diags)
			_, diags = p.ApplyPlan(t.Context(), typeName, txt("news", value), o, plan)
			p.NoErrors(diags)
		})
	}
	update(second, "v=spf1 -all", 0)
	update(first, "goodbye", 300*time.Millisecond)
	wg.Wait()
}

// TestMoveTooSlow checks the advice of a create whose conflict stays: to apply again, and not to import a
// record that the apply deletes.
func TestMoveTooSlow(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	www := map[string]any{"domain": "example.com", "name": "www", "type": "CNAME", "value": "b.example.net"}
	plan, diags := p.Plan(typeName, www, nil)
	p.NoErrors(diags)
	old := create(t, s, "example.com", "www", "CNAME", "a.example.net", "")
	_, diags = p.ApplyPlan(t.Context(), typeName, www, nil, plan)
	acctest.Expect(t, diags, "ERROR: Can't create the CNAME record www of example.com", fmt.Sprintf("The CNAME record %d is in the way. If this apply removes it too, run apply again", old.ID))
	creates := 0
	for _, op := range s.Sent() {
		if op == api.CreateDNSRecord.ID {
			creates++
		}
	}
	assert.Check(t, creates > 2 && creates < 10, "%d creates", creates)
}
