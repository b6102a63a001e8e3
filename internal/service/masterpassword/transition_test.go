package masterpassword_test

import (
	"maps"
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// outcome is the effect of a change of the configured secret.
type outcome string

const (
	unchanged outcome = "unchanged" // the plan is empty
	recorded  outcome = "recorded"  // only the state changes
	replaced  outcome = "replaced"  // the old master password is deleted
	refused   outcome = "refused"   // the plan is an error
)

// configured maps a name to a way of configuring the secret.
var configured = map[string]map[string]any{
	"value":       {"value": "hunter22"},
	"other value": {"value": "hunter23"},
	"wo":          {"value_wo": "hunter22", "value_wo_version": 1},
	"other wo":    {"value_wo": "hunter23", "value_wo_version": 2},
	"unseen wo":   {"value_wo": "hunter23", "value_wo_version": 1},
	"generate":    {"generate": true},
	"none":        {},
}

// transitions is the table of the package comment: the effect of each configured secret on
// a master password by its origin.
var transitions = map[string]map[string]outcome{
	"created with value": {
		"value": unchanged, "other value": replaced, "wo": recorded, "other wo": replaced, "unseen wo": replaced, "generate": replaced, "none": recorded,
	},
	"created with value_wo": {
		"value": replaced, "other value": replaced, "wo": unchanged, "other wo": replaced, "unseen wo": unchanged, "generate": replaced, "none": recorded,
	},
	"created with generate": {
		"value": replaced, "other value": replaced, "wo": replaced, "other wo": replaced, "unseen wo": replaced, "generate": unchanged, "none": recorded,
	},
	"being imported": {
		"value": recorded, "other value": recorded, "wo": recorded, "other wo": recorded, "unseen wo": recorded, "generate": recorded, "none": unchanged,
	},
	"imported by an earlier run": {
		"value": refused, "other value": refused, "wo": refused, "other wo": refused, "unseen wo": refused, "generate": refused, "none": unchanged,
	},
	"imported by an earlier run, refreshed since": {
		"value": refused, "other value": refused, "wo": refused, "other wo": refused, "unseen wo": refused, "generate": refused, "none": unchanged,
	},
	"imported with value": {
		"value": unchanged, "other value": replaced, "wo": recorded, "other wo": replaced, "unseen wo": replaced, "generate": replaced, "none": recorded,
	},
	"imported with value_wo": {
		"value": replaced, "other value": replaced, "wo": unchanged, "other wo": replaced, "unseen wo": unchanged, "generate": replaced, "none": recorded,
	},
	"imported with generate": {
		"value": replaced, "other value": replaced, "wo": replaced, "other wo": replaced, "unseen wo": replaced, "generate": unchanged, "none": recorded,
	},
	"renamed after an import": {
		"value": replaced, "other value": replaced, "wo": replaced, "other wo": replaced, "unseen wo": replaced, "generate": replaced, "none": unchanged,
	},
	"no longer configured": {
		"value": replaced, "other value": replaced, "wo": replaced, "other wo": replaced, "unseen wo": replaced, "generate": replaced, "none": unchanged,
	},
}

// secretTest is a provider with one master password.
type secretTest struct {
	t    *testing.T
	s    *acctest.Server
	p    *acctest.Protocol
	name string
}

func (s secretTest) config(way string) map[string]any {
	config := map[string]any{"name": s.name}
	maps.Copy(config, configured[way])
	return config
}

func (s secretTest) apply(way string, prior *acctest.Object) *acctest.Object {
	s.t.Helper()
	o, diags := s.p.Apply(s.t.Context(), typeName, s.config(way), prior)
	s.p.NoErrors(diags)
	return o
}

func (s secretTest) read(o *acctest.Object) *acctest.Object {
	s.t.Helper()
	o, diags := s.p.Read(typeName, o)
	s.p.NoErrors(diags)
	return o
}

// imported imports a master password. If renamed is set, its name differs from the
// configured name.
func (s secretTest) imported(renamed bool) *acctest.Object {
	s.t.Helper()
	name := s.name
	if renamed {
		name += " before"
	}
	_, err := s.s.Client.CreateMasterPassword(s.t.Context(), api.CreateMasterPasswordBody{Name: name, Generate: true})
	assert.NilError(s.t, err)
	o, diags := s.p.Import(typeName, name, nil)
	s.p.NoErrors(diags)
	return s.read(o)
}

func (s secretTest) origin(name string) *acctest.Object {
	s.t.Helper()
	switch name {
	case "created with value":
		return s.apply("value", nil)
	case "created with value_wo":
		return s.apply("wo", nil)
	case "created with generate":
		return s.apply("generate", nil)
	case "being imported":
		return s.imported(false)
	case "imported by an earlier run":
		return s.read(s.imported(false))
	case "imported by an earlier run, refreshed since":
		return s.read(s.read(s.read(s.imported(false))))
	case "imported with value":
		return s.read(s.apply("value", s.imported(false)))
	case "imported with value_wo":
		return s.apply("wo", s.imported(false)) // the next plan uses -refresh=false
	case "imported with generate":
		return s.read(s.read(s.apply("generate", s.imported(false))))
	case "renamed after an import":
		return s.apply("none", s.imported(true))
	case "no longer configured":
		return s.apply("none", s.apply("value", nil))
	}
	s.t.Fatalf("there is no origin %q", name)
	return nil
}

// TestSecretTransitions checks the whole table. A changed secret is never applied without
// a request to the API.
func TestSecretTransitions(t *testing.T) {
	t.Parallel()
	server := acctest.NewServer(t, acctest.Options{})
	p := server.Protocol(t, "")
	for origin, outcomes := range transitions {
		t.Run(origin, func(t *testing.T) {
			s := secretTest{t: t, s: server, p: p, name: origin}
			prior := s.origin(origin)
			for way, want := range outcomes {
				assert.Check(t, is.Equal(s.change(prior, way), want), way)
			}
			if outcomes["other wo"] == replaced {
				s.replace(prior, "other wo")
			}
		})
	}
}

// change plans a configuration and returns the plan's effect. It applies the plan unless
// it is a replacement, and checks that no request is sent.
func (s secretTest) change(prior *acctest.Object, way string) outcome {
	s.t.Helper()
	config := s.config(way)
	s.p.NoErrors(s.p.Validate(typeName, config))
	s.s.Journal.Clear()
	plan, diags := s.p.Plan(typeName, config, prior)
	if acctest.Errors(diags) > 0 {
		expect(s.t, diags, "AttributeName", "is not known", "terraform taint", "terraform state rm")
		return refused
	}
	if len(plan.Replace) > 0 {
		expect(s.t, diags, "The plan replaces the master password", "is locked out", "Concerns: access")
		if prior.Null("value") && prior.Null("value_wo_version") && prior.Null("generate") {
			expect(s.t, diags, "The plan replaces the master password", "does not know its secret")
		}
		return replaced
	}
	if plan.State.Equal(prior.State) {
		return unchanged
	}
	if way == "none" {
		want := []string{"WARNING: The secret of the master password", "is no longer managed", "Only value_wo_version is removed"}
		if !prior.Null("generated_secret") {
			want = []string{"WARNING: The plan removes the generated secret of the master password", "from the state", "the only copy", "Concerns: access"}
		} else if !prior.Null("value") {
			want[2] = "removes it from the state too"
		}
		expect(s.t, diags, append(want, "A secret that you set later replaces the master password")...)
	}
	after, diags := s.p.ApplyPlan(s.t.Context(), typeName, config, prior, plan)
	s.p.NoErrors(diags)
	if sent := s.s.Sent(); len(sent) > 0 || after.Text("id") != prior.Text("id") {
		s.t.Errorf("%s: sent %q", way, sent)
	}
	s.settles(way, after)
	return recorded
}

// replace applies the replacement of prior by a configuration, and checks the sent requests.
func (s secretTest) replace(prior *acctest.Object, way string) {
	s.t.Helper()
	s.s.Journal.Clear()
	after, _ := s.p.ApplyReplacement(s.t.Context(), typeName, s.config(way), prior)
	if sent, want := s.s.Sent(), []string{api.DeleteMasterPassword.ID, api.CreateMasterPassword.ID}; !slices.Equal(sent, want) {
		s.t.Errorf("%s: sent %q", way, sent)
	}
	s.settles(way, after)
}

// settles checks that the plans of later runs are empty.
func (s secretTest) settles(way string, o *acctest.Object) {
	s.t.Helper()
	for range 3 {
		o = s.read(o)
		next, diags := s.p.Plan(typeName, s.config(way), o)
		s.p.NoErrors(diags)
		if len(next.Replace) > 0 || !next.State.Equal(o.State) {
			s.t.Errorf("%s: the next plan is not empty: %s, replacing %v", way, next.State, next.Replace)
		}
	}
}
