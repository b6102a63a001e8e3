package provider_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// loss is a fault that loses or refuses the response to one request: a rule of the service, or a timeout
// of the network before or after the request is executed. Package client has a test of more of them.
type loss struct {
	rule     fault.Rule
	timesOut string
	// isVariant: the provider treats it like another one. Short tests leave it out.
	isVariant bool
}

// isAfter reports whether the request is executed.
func (l loss) isAfter() bool {
	return l.rule.After || l.rule.Drop == fault.After || l.timesOut == "after"
}

var losses = map[string]loss{
	"broken before":   {rule: fault.Rule{Drop: fault.Before}},
	"broken after":    {rule: fault.Rule{Drop: fault.After}},
	"500 before":      {rule: fault.Rule{Status: 500}, isVariant: true},
	"500 after":       {rule: fault.Rule{Status: 500, After: true}, isVariant: true},
	"502 page after":  {rule: fault.Rule{Status: 502, HTML: true, After: true}, isVariant: true},
	"503 busy":        {rule: fault.Rule{Status: 503, RetryAfter: 2}, isVariant: true},
	"403":             {rule: fault.Rule{Status: 403}},
	"truncated":       {rule: fault.Rule{Truncate: new(1)}, isVariant: true},
	"time-out before": {timesOut: "before"},
	"time-out after":  {timesOut: "after", isVariant: true},
}

// lossy is a provider whose requests to a server may be lost. It is its own network and clock.
type lossy struct {
	*acctest.Server

	t           *testing.T
	ignoresKeys bool
	host        host
	requests    []string // the methods of the requests since the last apply began
	// timesOut loses the request with the number at.
	at       int
	timesOut string
	warnings []string
}

// RoundTrip implements http.RoundTripper.
func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.ignoresKeys {
		r = r.Clone(r.Context())
		r.Header.Del(api.IdempotencyKeyHeader)
	}
	l.requests = append(l.requests, r.Method)
	next := l.Service.Client().Transport
	if l.host.request != nil || l.host.response != nil || l.host.refuse != nil {
		return l.host.roundTrip(r, next)
	}
	if l.timesOut == "" || len(l.requests) != l.at {
		return next.RoundTrip(r)
	}
	if l.timesOut == "after" {
		if resp, err := next.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
		}
	}
	limit := 90 * time.Second
	if r.Method == http.MethodGet {
		limit = 30 * time.Second
	}
	l.Advance(limit)
	return nil, fmt.Errorf("no response within %s", limit)
}

var coreSchemas = sync.OnceValue(func() *core.Schemas {
	return core.LoadSchemas(provider.NewServer(provider.New("test")()))
})

// start starts the provider's process of a walk.
func (l *lossy) start() *core.Provider {
	hooks := client.Hooks{
		Now: l.Clock.Now, Jitter: func(d time.Duration) time.Duration { return d }, Parallel: 1,
		Sleep: func(ctx context.Context, d time.Duration) error {
			l.Advance(d)
			return ctx.Err()
		},
	}
	p := &core.Provider{
		Server: provider.NewServer(provider.NewReplaced("test", provider.Replacements{Transport: l, Hooks: hooks})()), Schemas: coreSchemas(),
		Observer: l, Context: l.t.Context(),
	}
	settings := core.NewValue(p.Schemas.Provider.ValueType(), values{"base_url": "http://api.example.com", "account_id": l.AccountID, "token": l.Token})
	assert.NilError(l.t, p.Configure(settings).Err())
	return p
}

// Call implements core.Observer.
func (l *lossy) Call(_ string, call func()) bool { call(); return true }

// Diagnostics implements core.Observer.
func (l *lossy) Diagnostics(_ string, diags core.Diagnostics) {
	for _, d := range diags {
		l.warnings = append(l.warnings, d.Summary+": "+d.Detail)
	}
}

// Fail implements core.Observer.
func (l *lossy) Fail(kind, text string) {
	l.t.Helper()
	l.t.Fatalf("%s: %s", kind, text)
}

// plan runs terraform plan.
func (l *lossy) plan(config *core.Configuration, prior core.State) (*core.Plan, error) {
	return core.RunPlan(l.start(), rand.New(rand.NewPCG(1, 1)), config, prior, core.PlanOptions{})
}

// apply runs terraform apply, and loses the response to a request if number is not 0.
func (l *lossy) apply(plan *core.Plan, number int, fate loss) (after core.State, err error) {
	p := l.start()
	l.requests, l.warnings = nil, nil
	if l.at, l.timesOut = number, fate.timesOut; number > 0 && l.timesOut == "" {
		fate.rule.Operation, fate.rule.Nth = fault.Any, number
		l.Fault(l.t, fate.rule)
	}
	after, err = core.RunApply(p, rand.New(rand.NewPCG(1, 1)), plan)
	l.at, l.timesOut = 0, ""
	l.Faults.Clear()
	return after, err
}

// lossyStep is a change of the configuration whose apply loses responses.
type lossyStep struct {
	name    string
	from    core.State
	config  *core.Configuration
	restore func(context.Context) error
}

// begin restores the account. It sets the clock back to the time of the deadlines of a create.
func (l *lossy) begin(step lossyStep) {
	l.t.Helper()
	assert.NilError(l.t, step.restore(l.t.Context()))
	assert.NilError(l.t, l.Clock.Set(time.Now()))
	l.Journal.Clear()
}

// plain applies a step without a fault. It returns its plan, the state afterwards, the methods of the
// requests, and the content of the account.
func (l *lossy) plain(step lossyStep) (plan *core.Plan, after core.State, requests []string, content string) {
	l.t.Helper()
	l.begin(step)
	plan, err := l.plan(step.config, step.from)
	assert.NilError(l.t, err, step.name)
	after, err = l.apply(plan, 0, loss{})
	assert.NilError(l.t, err, step.name)
	requests = l.requests
	l.expectEmpty(step, after, "without a fault")
	return plan, after, requests, l.content()
}

func (l *lossy) expectEmpty(step lossyStep, state core.State, when string) {
	l.t.Helper()
	plan, err := l.plan(step.config, state)
	if assert.Check(l.t, err, "%s, %s: the next plan", step.name, when); err == nil {
		assert.Check(l.t, len(plan.Effective()) == 0, "%s, %s: the plan after it is not empty: %s", step.name, when, plan)
	}
}

// mayExist matches the error of a request that may have been executed, or was executed and lost its
// secret: it says what to look for and what to do. Only what is paid for, a secret, and what no list shows
// may end in it, on an API that ignores keys.
var mayExist = regexp.MustCompile(`(?s)The outcome is unknown: .* may have been .* (purchase-domains|claim-dedicated-ip|create-service-account|create-master-password|create-dns-record) .*(Check|Run apply again)` +
	`|, and with it the secret, .* has the id .* Delete it`)

// isTainted matches the error of a create that lost a secret, after which the next apply replaces the object.
var isTainted = regexp.MustCompile(`(?s), and with it the secret, .* is tainted`)

// lose applies a step again and again. Each time, it loses the response to another request, or in another
// way. The apply succeeds, or the next apply does the rest; the account then has the content that it has
// without a fault, and nothing was paid twice.
func (l *lossy) lose(step lossyStep) (core.State, func(context.Context) error) {
	l.t.Helper()
	plan, final, requests, want := l.plain(step)
	restoreFinal, err := l.Service.Snapshot(l.t.Context())
	assert.NilError(l.t, err)
	for _, name := range slices.Sorted(maps.Keys(losses)) {
		if losses[name].isVariant && testing.Short() {
			continue
		}
		isChanged := false
		for i, method := range requests {
			if method == http.MethodGet && (losses[name].isAfter() || losses[name].timesOut != "" && testing.Short()) {
				continue // like a read that is broken before
			}
			// Before the first change nothing can be lost, and a plan depends on the permissions of its credential.
			if isChanged = isChanged || method != http.MethodGet; !isChanged && losses[name].rule.Status == http.StatusForbidden {
				continue
			}
			number := i + 1
			l.begin(step)
			when := fmt.Sprintf("%s, request %d of %d", name, number, len(requests))
			after, failure := l.apply(plan, number, losses[name])
			l.settle(step, losses[name], after, failure, when, want)
		}
	}
	return final, restoreFinal
}

func (l *lossy) settle(step lossyStep, fate loss, after core.State, failure error, when, want string) {
	l.t.Helper()
	first := strings.Join(l.warnings, "\n")
	if failure != nil {
		text := failure.Error()
		isKnown := fate.rule.Status == http.StatusForbidden || l.ignoresKeys && (mayExist.MatchString(text) || isTainted.MatchString(text))
		assert.Check(l.t, isKnown, "%s, %s: one lost response failed the apply: %s", step.name, when, text)
		if mayExist.MatchString(text) && l.content() == want {
			return // the user looks for it, and finds it
		}
		plan, err := l.plan(step.config, after)
		if err != nil {
			l.t.Errorf("%s, %s: the apply failed: %v\nthe next plan: %v", step.name, when, failure, err)
			return
		}
		if after, err = l.apply(plan, 0, loss{}); err != nil {
			l.t.Errorf("%s, %s: the apply failed: %v\nthe next apply of %s: %v", step.name, when, failure, plan, err)
			return
		}
	}
	if plan, err := l.plan(step.config, after); err != nil || len(plan.Effective()) > 0 && (failure != nil || !strings.Contains(first, "Run apply again")) {
		l.t.Errorf("%s, %s: the apply: %v %s\nthe plan after it is %v, %v", step.name, when, failure, first, plan, err)
		return
	} else if len(plan.Effective()) > 0 { // a warning announced it
		if after, err = l.apply(plan, 0, loss{}); err != nil {
			l.t.Errorf("%s, %s: the apply warned: %s\nthe next apply of %s: %v", step.name, when, first, plan, err)
		}
		l.expectEmpty(step, after, when)
	}
	if got := l.content(); got != want {
		l.t.Errorf("%s, %s: the apply: %v %s\nthe account is not as without the fault:\n%s", step.name, when, failure, first, apitest.ChangedLines(want, got))
	}
}

// content returns the content of the account, with its payments.
func (l *lossy) content() string {
	l.t.Helper()
	payments := 0
	for _, e := range l.Owner(l.t).Changes() {
		if e.Operation == api.PurchaseDomains.ID || e.Operation == api.ClaimDedicatedIP.ID {
			payments++
		}
	}
	return fmt.Sprintf("%s\n%d payments", apitest.Content(l.t, l.Service), payments)
}

// lossyKind is a kind of object, or another way to create one, whose applies lose responses.
type lossyKind struct {
	typeName string
	config   values
	// change changes the object in place; nil if the API can't.
	change values
	// existing is the configuration of an object that exists before, and is adopted.
	existing values
}

// lossyKinds returns each kind of object, and each other sequence of requests of a create or an update.
func lossyKinds(t *testing.T, s *acctest.Server) map[string]lossyKind {
	t.Helper()
	all := map[string]lossyKind{}
	for typeName, k := range withSet(t, s) {
		if typeName == "mailhost_mailbox_set" {
			k.config = merged(k.config, values{"max_deletions": 9})
			k.change = values{"mailboxes": values{"jack": values{"first_name": "John", "last_name": "Doe"}, "ada": values{"first_name": "Ada", "last_name": "Doe"}}}
		}
		all[typeName] = lossyKind{typeName: typeName, config: k.config, change: k.change}
		if !s.PublishedOnly && k.change != nil && hasAttribute(t, typeName, "on_existing") {
			all[typeName+" adopted"] = lossyKind{typeName: typeName, config: merged(merged(k.config, k.change), values{"on_existing": "adopt"}), existing: k.config}
		}
	}
	add := func(name string, settings, change values) {
		typeName, _, _ := strings.Cut(name, " ")
		all[name] = lossyKind{typeName: typeName, config: merged(all[typeName].config, settings), change: change}
	}
	redirect := func(url string) values { return values{"auto_renew": true, "redirect_url": url} }
	add("mailhost_domain with settings", redirect("https://a.example/"), redirect("https://b.example/"))
	add("mailhost_master_password with value_wo", values{"generate": nil, "value_wo": "s3cret-of-a-test", "value_wo_version": 1}, values{"name": "Migration"})
	if s.PublishedOnly {
		return all
	}
	add("mailhost_forwarding switched off", values{"active": false}, values{"target_email": "joan@example.org"})
	may := func(capability, resourceType, id string) values {
		return values{"capability_key": capability, "resource_type": resourceType, "resource_id": id}
	}
	add("mailhost_service_account with permissions",
		values{"permissions": []any{values{"capability_key": "mailbox.view"}, may("domain.view", "workspace", s.WorkspaceID)}},
		values{"permissions": []any{values{"capability_key": "mailbox.view"}, may("domain.update", "workspace", s.WorkspaceID)}})
	return all
}

// TestLostResponses creates, adopts, updates and deletes an object of each kind, and loses or refuses the
// response to each request of the apply, in each way, with an API that honours Idempotency-Keys, one that
// ignores them, and one with the published operations only.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct {
		name                       string
		ignoresKeys, publishedOnly bool
	}{{"keys", false, false}, {"no keys", true, false}, {"published", true, true}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{PublishedOnly: mode.publishedOnly})
			all := lossyKinds(t, s)
			restore, err := s.Service.Snapshot(t.Context())
			assert.NilError(t, err)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				t.Run(name, func(t *testing.T) {
					l, k := &lossy{Server: s, t: t, ignoresKeys: mode.ignoresKeys}, all[name]
					block := func(config values) *core.Configuration {
						return &core.Configuration{Blocks: []*core.Block{{Addr: k.typeName + ".x", Arguments: config}}}
					}
					restore := restore
					if k.existing != nil {
						l.plain(lossyStep{"before", core.State{}, block(k.existing), restore})
						restore, err = s.Service.Snapshot(t.Context())
						assert.NilError(t, err)
					}
					created, restore := l.lose(lossyStep{"create", core.State{}, block(k.config), restore})
					if mode.ignoresKeys { // only creates carry keys
						return
					}
					if k.change != nil {
						l.lose(lossyStep{"update", created, block(merged(k.config, k.change)), restore})
					}
					if name == k.typeName {
						l.lose(lossyStep{"delete", created, &core.Configuration{}, restore})
					}
				})
			}
		})
	}
}
