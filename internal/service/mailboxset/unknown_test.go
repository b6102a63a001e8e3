package mailboxset_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestUnknownOutcome checks that an apply continues with what an earlier one has created
// without learning it, and with nothing else.
func TestUnknownOutcome(t *testing.T) {
	for name, o := range map[string]acctest.Options{"full": {}, "published": {PublishedOnly: true}} {
		for _, keys := range []string{"keys", "no keys"} {
			t.Run(name+"/"+keys, func(t *testing.T) {
				t.Parallel()
				s := server(t, o)
				// The response of each bulk create is lost, and the lists can't be read then.
				var loses, lost atomic.Bool
				p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if keys == "no keys" {
						r.Header.Del(api.IdempotencyKeyHeader)
					}
					switch {
					case loses.Load() && strings.HasSuffix(r.URL.Path, "/bulk"):
						next.ServeHTTP(httptest.NewRecorder(), r)
						lost.Store(true)
						panic(http.ErrAbortHandler)
					case lost.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/mailboxes"):
						acctest.Refuse(w, http.StatusForbidden, "header.authorization", "not now")
					default:
						next.ServeHTTP(w, r)
					}
				}))
				apply := func(config map[string]any, o *acctest.Object, severity string) *acctest.Object {
					loses.Store(true)
					o, diags := p.Apply(t.Context(), typeName, config, o)
					acctest.Expect(t, diags, severity, "The outcome is unknown", "Run apply again")
					loses.Store(false)
					lost.Store(false)
					o, diags = p.Walk().Read(typeName, o)
					p.NoErrors(diags)
					return o
				}
				created := apply(set(nil, "ann", "bob"), nil, "WARNING")
				expect(t, created, "mailboxes")
				expect(t, created, "unmanaged", "ann@example.com", "bob@example.com")

				// Somebody else's mailbox is a conflict, and one with other names may be one.
				s.Mailbox(t, "example.com", "cid")
				for _, other := range [][]string{{"ann", "bob", "cid"}, {"ann", "bob=Else Doe"}} {
					now, _ := p.Walk().Read(typeName, created)
					_, diags := p.Plan(typeName, set(nil, other...), now)
					acctest.Expect(t, diags, "ERROR", "1 mailbox to be created exists already", other[len(other)-1][:3]+"@example.com")
				}

				created, _ = p.Walk().Read(typeName, created)
				plan, diags := p.Plan(typeName, set(nil, "ann", "bob"), created)
				p.NoErrors(diags)
				acctest.Expect(t, diags, "WARNING", "continues with 2 mailboxes of an earlier apply", "ann@example.com", "bob@example.com")
				complete, diags := p.ApplyPlan(t.Context(), typeName, set(nil, "ann", "bob"), created, plan)
				p.NoErrors(diags)
				expect(t, complete, "mailboxes", "ann=Jane Doe", "bob=Jane Doe")

				// An update is an error, and its next apply continues in the same way.
				more := set(nil, "ann", "bob", "dee")
				partial := apply(more, complete, "ERROR")
				expect(t, partial, "mailboxes", "ann=Jane Doe", "bob=Jane Doe")
				complete, diags = p.Apply(t.Context(), typeName, more, partial)
				p.NoErrors(diags)
				expect(t, complete, "mailboxes", "ann=Jane Doe", "bob=Jane Doe", "dee=Jane Doe")
				expect(t, complete, "unmanaged", "cid@example.com")
				if all := addressesOf(t, s); len(all) != 4 {
					t.Errorf("the domain has %q", all)
				}

				// The memory ends with a success: what is created again later is a stranger's.
				if o.PublishedOnly {
					return
				}
				fewer, diags := p.Apply(t.Context(), typeName, set(map[string]any{"max_deletions": 1}, "ann", "bob"), complete)
				p.NoErrors(diags)
				s.Mailbox(t, "example.com", "dee")
				fewer, _ = p.Walk().Read(typeName, fewer)
				_, diags = p.Plan(typeName, more, fewer)
				acctest.Expect(t, diags, "ERROR", "exists already", "dee@example.com")
				if slices.Contains(texts(t, fewer, "unmanaged"), "ann@example.com") {
					t.Error("ann is unmanaged")
				}
			})
		}
	}
}
