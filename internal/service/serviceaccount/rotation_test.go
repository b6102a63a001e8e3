package serviceaccount_test

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const day = 24 * time.Hour

// lasting returns a configuration of a service account that expires.
func lasting(validFor, rotateBefore any) map[string]any {
	return map[string]any{"name": "CI", "valid_for": validFor, "rotate_before": rotateBefore}
}

// expiring expects an object with a token that is valid for a duration from a time on.
func expiring(t *testing.T, o *acctest.Object, from time.Time, lasts time.Duration) {
	t.Helper()
	until, err := time.Parse(api.TimestampLayout, o.Text("expires_at"))
	off := until.Sub(from.Add(lasts))
	assert.Check(t, err == nil && off.Abs() <= time.Minute/2, "it expires at %s, %s off: %v", o.Text("expires_at"), off, err)
}

// at sets the server's clock, and returns a new provider process.
func at(t *testing.T, s *acctest.Server, now time.Time) *acctest.Protocol {
	t.Helper()
	assert.NilError(t, s.Clock.Set(now))
	return s.Protocol(t, "")
}

// replacing expects a plan that replaces the object because of an attribute.
func replacing(t *testing.T, when string, plan *acctest.Object, attribute string) {
	t.Helper()
	if len(plan.Replace) != 1 || plan.Replace[0].String() != fmt.Sprintf("AttributeName(%q)", attribute) {
		t.Errorf("%s: replaces because of %v, want %q; the plan is %s", when, plan.Replace, attribute, plan.State)
	}
}

// TestRotation checks the plans as time passes.
func TestRotation(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		began := time.Now().Truncate(time.Second)
		p := at(t, s, began)
		config := lasting("720h", "168h")
		plan, diags := p.Plan(typeName, config, nil)
		p.NoErrors(diags)
		assert.Check(t, plan.Text("expires_at") == "(unknown)", "planned %s", plan.State)
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		expiring(t, o, began, 30*day)

		for _, now := range []time.Time{began, began.Add(23*day - time.Minute), began.Add(-400 * day)} {
			p := at(t, s, now)
			for _, validFor := range []string{"720h", "43200m"} {
				plan, diags = p.Plan(typeName, lasting(validFor, "168h"), o)
				if p.NoErrors(diags); !plan.State.Equal(o.State) || len(plan.Replace) > 0 {
					t.Errorf("at %s, valid for %s: planned %s, replacing %v", now, validFor, plan.State, plan.Replace)
				}
			}
		}
		p = at(t, s, began.Add(23*day-time.Minute))
		plan, diags = p.Plan(typeName, lasting("720h", "169h"), o)
		p.NoErrors(diags)
		replacing(t, "an earlier rotation", plan, "expires_at")
		plan, diags = p.Plan(typeName, lasting("720h", acctest.Unknown), o)
		if p.NoErrors(diags); len(plan.Replace) > 0 {
			t.Errorf("an unknown rotation replaces %v", plan.Replace)
		}

		_, diags = p.Plan(typeName, lasting("721h", "168h"), o)
		if p.NoErrors(diags); s.PublishedOnly {
			acctest.Expect(t, diags, "STILL WORKS until "+o.Text("expires_at"))
		}

		p = at(t, s, began.Add(23*day+time.Minute)) // the API's clock decides, also in a plan without a refresh
		plan, diags = p.Plan(typeName, config, o)
		p.NoErrors(diags)
		replacing(t, "due", plan, "expires_at")
		assert.Check(t, plan.Text("expires_at") == "(unknown)", "planned %s", plan.State)
		if s.PublishedOnly {
			acctest.Expect(t, diags, "STILL WORKS until "+o.Text("expires_at"))
		}
		next, diags := p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		expiring(t, next, began.Add(23*day+time.Minute), 30*day)

		p = at(t, s, began.Add(53*day))
		plan, diags = p.Plan(typeName, lasting("720h", nil), next)
		if p.NoErrors(diags); len(plan.Replace) > 0 || plan.Text("expires_at") != next.Text("expires_at") {
			t.Errorf("without rotate_before, a second too early: planned %s, replacing %v", plan.State, plan.Replace)
		}
		p = at(t, s, began.Add(53*day+2*time.Minute))
		plan, diags = p.Plan(typeName, lasting("720h", nil), next)
		p.NoErrors(diags)
		replacing(t, "expired", plan, "expires_at")
	})
}

// TestValidity changes the durations of a service account.
func TestValidity(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, lasting("720h", nil), nil)
	p.NoErrors(diags)
	for when, config := range map[string]map[string]any{"longer": lasting("721h", nil), "unknown": lasting(acctest.Unknown, nil)} {
		plan, diags := p.Plan(typeName, config, o)
		p.NoErrors(diags)
		replacing(t, when, plan, "valid_for")
	}
	plan, diags := p.Plan(typeName, map[string]any{"name": "CI", "expires_at": "2099-01-01T00:00:00Z"}, o)
	p.NoErrors(diags)
	replacing(t, "at a time", plan, "expires_at")
	// Arguments that are removed change nothing.
	timed, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "CI", "expires_at": "2099-01-01T00:00:00Z", "rotation_triggers": map[string]any{"a": "b"}}, nil)
	p.NoErrors(diags)
	for when, o := range map[string]*acctest.Object{"valid_for": o, "expires_at": timed} {
		plan, diags = p.Plan(typeName, lasting(nil, nil), o)
		assert.Check(t, len(plan.Replace) == 0 && len(diags) == 0 && plan.Text("expires_at") == o.Text("expires_at"), "without %s: planned %s, replacing %v\n%s", when, plan.State, plan.Replace, acctest.Render(diags))
		removed, diags := p.Apply(t.Context(), typeName, lasting(nil, nil), o)
		p.NoErrors(diags)
		assert.Check(t, removed.Text("token") == o.Text("token") && removed.Text("expires_at") == o.Text("expires_at"), "without %s: %s", when, removed.State)
	}
	_, diags = at(t, s, time.Now().Add(31*day)).Read(typeName, o)
	acctest.Expect(t, diags, `service account "CI" has expired`, "The next apply replaces it")
}

// TestImportedValidity checks that an imported service account is not replaced before it
// is due.
func TestImportedValidity(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	until := time.Now().UTC().Add(10 * day).Format(api.TimestampLayout)
	for name, expiresAt := range map[string]*string{"never": nil, "soon": &until} {
		p := at(t, s, time.Now())
		a, err := s.Client.CreateServiceAccount(t.Context(), api.CreateServiceAccountBody{Name: name, ExpiresAt: expiresAt})
		assert.NilError(t, err)
		o, diags := p.Import(typeName, a.ID, nil)
		p.NoErrors(diags)
		o, diags = p.Read(typeName, o)
		p.NoErrors(diags)
		config := lasting("720h", "168h")
		config["name"] = name
		for _, when := range []string{"first", "second"} {
			plan, diags := p.Plan(typeName, config, o)
			p.NoErrors(diags)
			assert.Check(t, len(plan.Replace) == 0 && plan.Text("expires_at") == o.Text("expires_at"), "%s, %s plan: %s, replacing %v", name, when, plan.State, plan.Replace)
			if name == "never" {
				acctest.Expect(t, diags, `WARNING at AttributeName("valid_for")`, `"never" never expires`, "-replace")
			} else if len(diags) > 0 {
				t.Error(acctest.Render(diags))
			}
			o, diags = p.ApplyPlan(t.Context(), typeName, config, o, plan)
			p.NoErrors(diags)
		}
		plan, diags := at(t, s, time.Now().Add(3*day+time.Minute)).Plan(typeName, config, o)
		p.NoErrors(diags)
		if name == "soon" {
			replacing(t, "due", plan, "expires_at")
		} else if len(plan.Replace) > 0 {
			t.Errorf("without expiry: replacing %v", plan.Replace)
		}
	}
}

func TestDurationsRefused(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	for name, c := range map[string]struct {
		config map[string]any
		want   []string
	}{
		"no duration":      {lasting("30d", nil), []string{`ERROR at AttributeName("valid_for")`, "a day is 24h"}},
		"too short":        {lasting("30s", nil), []string{`valid_for must be at least 1m, got "30s"`}},
		"negative":         {lasting("720h", "-1h"), []string{"rotate_before must be at least 1m"}},
		"not shorter":      {lasting("24h", "1440m"), []string{`ERROR at AttributeName("rotate_before")`, "due for replacement at once"}},
		"without validity": {lasting(nil, "24h"), []string{`ERROR at AttributeName("rotate_before")`, "rotate_before without valid_for"}},
		"both":             {map[string]any{"name": "CI", "valid_for": "1h", "expires_at": "2099-01-01T00:00:00Z"}, []string{`ERROR at AttributeName("valid_for")`, "Remove valid_for or expires_at"}},
		"unknown validity": {lasting(acctest.Unknown, "24h"), nil},
		"unknown rotation": {lasting("24h", acctest.Unknown), nil},
		"unknown time":     {map[string]any{"name": "CI", "valid_for": "1h", "expires_at": acctest.Unknown}, nil},
	} {
		diags := p.Validate(typeName, c.config)
		acctest.Expect(t, diags, c.want...)
		want := min(len(c.want), 1)
		assert.Check(t, acctest.Errors(diags) == want, "%s: %d errors, want %d:\n%s", name, acctest.Errors(diags), want, acctest.Render(diags))
	}
}
