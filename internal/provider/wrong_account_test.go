package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestWrongAccount uses objects of one account with a provider for another account, where
// they seem to be deleted. The account is in the identity, and for a CLI without identities
// in the private state.
func TestWrongAccount(t *testing.T) {
	t.Parallel()
	own, other := acctest.NewServer(t, acctest.Options{}), acctest.NewServer(t, acctest.Options{})
	p := own.Protocol(t, "")
	for name, r := range kinds(t, own) {
		created, diags := p.Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		for via, forget := range map[string]func(*acctest.Object){
			"identity":      func(o *acctest.Object) { o.Private = nil },
			"private state": func(o *acctest.Object) { o.Identity = nil },
		} {
			o := *created
			forget(&o)
			t.Run(name+" by "+via, func(t *testing.T) { expectRefusal(t, own, other, name, r, &o) })
			_, diags := p.Plan(name, nil, &o)
			p.NoErrors(diags) // in its own account
		}
	}
}

func expectRefusal(t *testing.T, own, other *acctest.Server, name string, r kind, o *acctest.Object) {
	t.Helper()
	// The first error has both accounts, the source of the connection and the next step.
	full := []string{"ERROR: The state belongs to another account\n", own.AccountID, other.AccountID, "account_id", "terraform state rm"}

	p := other.Protocol(t, "").Together()
	for i := range 3 {
		read, diags := p.Read(name, o)
		assert.Check(t, read.State.Equal(o.State), "the read returns %s", read.State)
		if i == 0 {
			acctest.Expect(t, diags, full...)
		} else if len(diags) > 0 {
			t.Errorf("repeated: %s", acctest.Render(diags))
		}
	}
	_, diags := p.Plan(name, r.replacing, o)
	assert.Check(t, len(diags) == 0, "repeated in the plan: %s", acctest.Render(diags))
	// Without a refresh, the plan is the error.
	for what, config := range map[string]map[string]any{"destroy": nil, "change": r.replacing, "nothing": r.config} {
		_, diags := other.Protocol(t, "").Plan(name, config, o)
		if acctest.Expect(t, diags, full...); acctest.Errors(diags) != 1 {
			t.Errorf("%s: %s", what, acctest.Render(diags))
		}
	}
	// If the plan was made with the right account, the apply is an error for each object.
	p = other.Protocol(t, "")
	for i, plan := range []*acctest.Object{{State: p.Null(name), Private: o.Private, Identity: o.Identity}, o} {
		config := r.config
		if i == 0 {
			config = nil
		}
		applied, diags := p.ApplyPlan(t.Context(), name, config, o, plan)
		assert.Check(t, !applied.Gone() && acctest.Errors(diags) == 1, "the apply leaves %s: %s", applied.State, acctest.Render(diags))
		if text := acctest.Render(diags); i == 0 {
			acctest.Expect(t, diags, full...)
		} else if !strings.Contains(text, own.AccountID) || strings.Contains(text, "state rm") {
			t.Errorf("the second error is %s", text)
		}
	}
}

// TestAccountIsKept checks that everything that writes a state stores the account in its
// private part, so that the next run can compare it without an identity.
func TestAccountIsKept(t *testing.T) {
	t.Parallel()
	own, other := acctest.NewServer(t, acctest.Options{}), acctest.NewServer(t, acctest.Options{})
	p := own.Protocol(t, "")
	for name, r := range kinds(t, own) {
		created, diags := p.Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		imported, diags := p.Import(name, created.Text("id"), nil)
		p.NoErrors(diags)
		unmarked := *created
		unmarked.Private = nil
		read, diags := p.Read(name, &unmarked)
		p.NoErrors(diags)
		for how, o := range map[string]*acctest.Object{"create": created, "import": imported, "read": read} {
			o.Identity = nil
			_, diags := other.Protocol(t, "").Read(name, o)
			assert.Check(t, isRefused(diags), "after the %s of %s: %s", how, name, acctest.Render(diags))
		}
		// A state without an account is accepted.
		unmarked.Identity = nil
		gone, diags := other.Protocol(t, "").Read(name, &unmarked)
		assert.Check(t, gone.Gone() && len(diags) == 0, "%s without an account: %s", name, acctest.Render(diags))
	}
}

// TestRecreatedAccount checks that a lost embedded account is distinguished from a new one
// with the same id.
func TestRecreatedAccount(t *testing.T) {
	t.Parallel()
	const accountID = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	dir, config := t.TempDir(), map[string]any{"target_email": "jane@example.net"}
	p := acctest.Embedded(t, accountID, dir)
	o, diags := p.Apply(t.Context(), "mailhost_forwarding", config, nil)
	p.NoErrors(diags)
	unmarked := *o
	unmarked.Private = nil // a state that only names the account is of any with this id
	_, diags = acctest.Embedded(t, accountID, dir).Read("mailhost_forwarding", &unmarked)
	p.NoErrors(diags)
	for _, identity := range []*tfprotov6.ResourceIdentityData{o.Identity, nil} {
		o.Identity = identity
		again := acctest.Embedded(t, accountID, dir) // like the next command
		read, diags := again.Read("mailhost_forwarding", o)
		if again.NoErrors(diags); read.Gone() {
			t.Error("it was removed from the state")
		}
		lost := acctest.Embedded(t, accountID, t.TempDir())
		kept, diags := lost.Read("mailhost_forwarding", o)
		acctest.Expect(t, diags, "ERROR: The state belongs to another account", accountID, "created at", "same id", "MAILHOST_DATA_DIR")
		assert.Check(t, !kept.Gone(), "it was removed from the state")
		_, diags = acctest.Embedded(t, accountID, t.TempDir()).Plan("mailhost_forwarding", nil, o)
		assert.Check(t, isRefused(diags), "the destroy plans %s", acctest.Render(diags))
	}
}

func isRefused(diags []*tfprotov6.Diagnostic) bool {
	return strings.Contains(acctest.Render(diags), "belongs to another account")
}

// TestOneErrorForTheConnection checks that only the first read reports a failed
// connection, and that the other reads return their state.
func TestOneErrorForTheConnection(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	objects := map[string]*acctest.Object{}
	for name, r := range kinds(t, s) {
		o, diags := p.Apply(t.Context(), name, r.config, nil)
		p.NoErrors(diags)
		objects[name] = o
	}
	for what, c := range map[string]struct {
		url   func(t *testing.T) string
		token string
		want  []string
	}{
		"invalid token":  {func(*testing.T) string { return s.URL }, "mhsa_nobody_x", []string{"HTTP 401", "Check the credential"}},
		"wrong base_url": {func(*testing.T) string { return s.URL + "/elsewhere" }, s.Token, []string{"HTTP 404", "Check base_url"}},
	} {
		t.Run(what, func(t *testing.T) {
			p := (&acctest.Server{Server: s.Server, AccountID: s.AccountID, Token: c.token}).Protocol(t, c.url(t)).Together()
			var all []*tfprotov6.Diagnostic
			for name, o := range objects {
				read, diags := p.Read(name, o)
				assert.Check(t, read.State.Equal(o.State), "the read of %s returns %s", name, read.State)
				all = append(all, diags...)
			}
			assert.Check(t, acctest.Errors(all) == 1, "%d errors:\n%s", acctest.Errors(all), acctest.Render(all))
			acctest.Expect(t, all, c.want...)
			if what == "wrong base_url" {
				return // only a read can find this out
			}
			// Each change has its own short error.
			config := map[string]any{"target_email": "joe@example.net"}
			plan, _ := p.Plan("mailhost_forwarding", config, nil)
			_, diags := p.ApplyPlan(t.Context(), "mailhost_forwarding", config, nil, plan)
			text := acctest.Render(diags)
			assert.Check(t, acctest.Errors(diags) == 1 && !strings.Contains(text, c.want[1]) && strings.Contains(text, "See the full error"), "the create: %s", text)
			// So does each lookup, because it may be in a check block.
			for i := range 2 {
				_, diags := p.ReadData("mailhost_domain", map[string]any{"name": "example.com"})
				text := acctest.Render(diags)
				assert.Check(t, acctest.Errors(diags) == 1 && strings.Contains(text, "See the full error"), "lookup %d: %s", i, text)
			}
			// If a lookup fails first, a read still reports the error.
			p.Together()
			_, diags = p.ReadData("mailhost_domain", map[string]any{"name": "example.com"})
			acctest.Expect(t, diags, c.want...)
			var after []*tfprotov6.Diagnostic
			for name, o := range objects {
				_, diags := p.Read(name, o)
				after = append(after, diags...)
			}
			text = acctest.Render(after)
			assert.Check(t, acctest.Errors(after) == 1 && !strings.Contains(text, c.want[1]), "after a lookup: %s", text)
		})
	}
}
