package mailbox_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
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
	if len(sent) != 0 || o.Text("updated_at") != updated {
		t.Errorf("other timeouts were sent: %v, updated_at is %s", sent, o.Text("updated_at"))
	}
	_, diags = p.Apply(t.Context(), typeName, attributes(map[string]any{"last_name": "Roe"}), o)
	p.NoErrors(diags)
	if len(sent) != 1 || len(sent[0]) != 1 || sent[0]["last_name"] != "Roe" {
		t.Errorf("sent %v, want last_name alone", sent)
	}
}

// TestUnknownAddressIsAnnounced checks that an address with unknown parts is planned as a
// replacement, also if it does not change in the end.
func TestUnknownAddressIsAnnounced(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, attributes(nil), nil)
	p.NoErrors(diags)
	for name, c := range map[string]struct {
		changes map[string]any
		want    []string
	}{
		"domain":          {map[string]any{"domain": acctest.Unknown}, []string{"Only the apply will know its domain,", "mail in it is lost", "set domain to a value that the plan knows", "depends_on"}},
		"both":            {map[string]any{"domain": acctest.Unknown, "local_part": acctest.Unknown}, []string{"its domain and local_part,"}},
		"another as well": {map[string]any{"domain": acctest.Unknown, "local_part": "john"}, []string{"another domain or local_part", "undo the change"}},
	} {
		plan, diags := p.Plan(typeName, attributes(c.changes), o)
		acctest.Expect(t, diags, append([]string{"WARNING: The plan replaces the mailbox jane@example.com"}, c.want...)...)
		if len(plan.Replace) == 0 {
			t.Errorf("%s: the plan does not replace it", name)
		}
	}
	if _, diags = p.Plan(typeName, attributes(map[string]any{"domain": "Example.COM.", "local_part": "JANE", "first_name": acctest.Unknown}), o); len(diags) > 0 {
		t.Errorf("other spellings: %s", acctest.Render(diags))
	}
}

// TestUnusableDomain checks that the error about an unpaid domain does not suggest to
// import a mailbox.
func TestUnusableDomain(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{Registrar: apiserver.Registrar{PaymentNeeded: true}})
	s.UnpaidDomain(t, "example.com")
	_, diags := s.Protocol(t, "").Apply(t.Context(), typeName, attributes(nil), nil)
	acctest.Expect(t, diags, "ERROR: Can't create the mailbox jane@example.com", "pending_payment", "Pay for the domain example.com")
	if got := acctest.Render(diags); strings.Contains(got, "import it") {
		t.Errorf("the error is %s", got)
	}
}
