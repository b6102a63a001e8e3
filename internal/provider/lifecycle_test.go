package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest/core"
)

// isUnknown matches an unknown value of a plan.
const isUnknown = "(unknown)"

// What a plan does.
const (
	creates  = "creates"
	updates  = "updates"
	replaces = "replaces"
	noChange = "changes nothing"
)

// life is the life of one object of a kind.
type life struct {
	steps []step
	// ids import the object of the last step.
	ids []string
	// notImported are attributes of the last step that an import does not have, or spells
	// otherwise.
	notImported []string
	// remove deletes the object outside Terraform.
	remove func(id string) error
	// refused has configurations, and the error of their validation or apply.
	refused []refusedConfig
	// noImport has import ids, and the error.
	noImport []refusedImport
}

// step is a configuration that follows on another one.
type step struct {
	// before changes something outside Terraform.
	before        func() error
	config        values
	does          string
	planned, want values
}

type refusedConfig struct {
	config values
	want   []string
}

type refusedImport struct {
	id   string
	want []string
}

// TestLives takes an object of each kind through its life: each step is planned, applied, and
// followed by an empty plan. Then the object is imported, deleted outside Terraform, and
// destroyed.
func TestLives(t *testing.T) {
	t.Parallel()
	for typeName, setUp := range everyLife {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
				if s.PublishedOnly && !publishes(typeName, http.MethodPost) {
					t.Skip("the published operations can't create such an object")
				}
				canRead := !s.PublishedOnly || publishes(typeName, http.MethodGet)
				if !canRead && typeName == "mailhost_dns_record" {
					t.Skip("the published operations can't read a record: package dnsrecord tests what then happens")
				}
				subject := &subject{T: t, s: s, p: s.Protocol(t, ""), typeName: typeName, life: setUp(t, s)}
				subject.isComplete()
				for i, step := range subject.steps {
					subject.take(i, step)
				}
				subject.isChanged()
				subject.refusals(canRead)
				if canRead {
					subject.imports()
					subject.disappears()
				}
				subject.ends()
			})
		})
	}
}

// subject is an object whose life is tested.
type subject struct {
	*testing.T
	life
	s        *acctest.Server
	p        *acctest.Protocol
	typeName string
	o        *acctest.Object
	// latest is the configuration of the last step.
	latest values
	// changes are the changes of attributes that updates have made, such as "department: from none to a value".
	changes map[string]bool
}

// elsewhere are attributes with tests of their own: those of several kinds in this package, others
// in their kind's.
var elsewhere = []string{"on_existing", "timeouts", "active", "value_wo", "value_wo_version", "permissions"}

// forgotten returns what a step has not set or, if the plan after it knows none of that, the whole plan.
func (x *subject) forgotten(step step, plan *acctest.Object) string {
	if x.o != nil {
		if lines := acctest.Forgotten(x.typeName, step.does != updates, x.o.State, plan.State); len(lines) > 0 {
			return strings.Join(lines, "\n")
		}
	}
	return plan.State.String()
}

// isComplete checks that a step sets each attribute that users can set.
func (x *subject) isComplete() {
	x.Helper()
	for _, a := range x.p.ResourceSchemas()[x.typeName].Block.Attributes {
		isSet := func(s step) bool { return s.config[a.Name] != nil }
		if (a.Optional || a.Required) && !slices.Contains(elsewhere, a.Name) && !slices.ContainsFunc(x.steps, isSet) {
			x.Errorf("%s: no step in lives_test.go sets %s", strings.TrimPrefix(x.typeName, "mailhost_"), a.Name)
		}
	}
}

// The changes of an attribute in an update.
const (
	isAdded   = "from none to a value"
	isOther   = "from a value to another"
	isRemoved = "from a value to none"
)

// isChanged checks that updates have changed each attribute that the API can change, and have added and
// removed each that null removes.
func (x *subject) isChanged() {
	x.Helper()
	if x.s.PublishedOnly { // some updates are left out
		return
	}
	for _, op := range operations(x.typeName) {
		body := op.Body()
		if body == nil || op.Method != http.MethodPatch {
			continue
		}
		for _, f := range body.Members {
			if !hasAttribute(x.T, x.typeName, f.Name) || slices.Contains(elsewhere, f.Name) {
				continue
			}
			wanted := []string{isOther}
			if f.Removable {
				wanted = []string{isAdded, isOther, isRemoved}
			}
			for _, change := range wanted {
				if !x.changes[f.Name+": "+change] {
					x.Errorf("%s: no step in lives_test.go updates %s, %s", strings.TrimPrefix(x.typeName, "mailhost_"), f.Name, change)
				}
			}
		}
	}
}

// isNone reports whether a value is null or "", with which a configuration removes a setting that stays if it is
// omitted.
func isNone(v tftypes.Value) bool { return v.IsNull() || core.Shown(v) == `""` }

// note records which attributes an update has changed, and how.
func (x *subject) note(before, after tftypes.Value) {
	if x.changes == nil {
		x.changes = map[string]bool{}
	}
	from, to := acctest.Attributes(before), acctest.Attributes(after)
	for name := range to {
		switch {
		case from[name].Equal(to[name]):
		case isNone(from[name]):
			x.changes[name+": "+isAdded] = true
		case isNone(to[name]):
			x.changes[name+": "+isRemoved] = true
		default:
			x.changes[name+": "+isOther] = true
		}
	}
}

// plan refreshes the object and plans a configuration, as one plan of Terraform does.
func (x *subject) plan(config values) (does string, plan *acctest.Object) {
	x.Helper()
	x.p.Walk()
	prior := x.o
	if prior != nil {
		o, diags := x.p.Read(x.typeName, prior)
		x.p.NoErrors(diags)
		if prior = o; o.Gone() {
			prior = nil
		}
	}
	x.p.NoErrors(x.p.Validate(x.typeName, config))
	plan, diags := x.p.Plan(x.typeName, config, prior)
	x.p.NoErrors(diags)
	x.named(diags, plan, prior)
	x.o = prior
	switch {
	case prior == nil:
		return creates, plan
	case len(plan.Replace) > 0:
		return replaces, plan
	case plan.State.Equal(prior.State):
		return noChange, plan
	}
	return updates, plan
}

// take takes a step, and checks that the next plan is empty.
func (x *subject) take(i int, step step) {
	x.Helper()
	if step.before != nil {
		assert.NilError(x.T, step.before())
	}
	does, plan := x.plan(step.config)
	if does != step.does {
		var changes []string
		if x.o != nil {
			changes = acctest.Differences(x.o.State, plan.State)
		}
		x.Fatalf("%s: step %d %s, want %s, replacing %v: %s", x.typeName, i, does, step.does, plan.Replace, strings.Join(changes, "; "))
	}
	if d := difference(step.planned, plain(x.T, plan.State)); d != "" && step.planned != nil && does != replaces {
		x.Errorf("step %d: the plan (-want +got):\n%s", i, d)
	}
	id := ""
	if x.o != nil {
		id = x.o.Text("id")
	}
	switch does {
	case replaces:
		x.o, _ = x.p.ApplyReplacement(x.Context(), x.typeName, step.config, x.o)
	case creates, updates:
		o, diags := x.p.Walk().ApplyPlan(x.Context(), x.typeName, step.config, x.o, plan)
		x.p.NoErrors(diags)
		if does == updates {
			x.note(x.o.State, o.State)
		}
		x.o = o
	}
	kept := x.o.Text("id") == id
	assert.Check(x, kept == (does == updates || does == noChange), "step %d %s: the id was %q and is %q", i, does, id, x.o.Text("id"))
	x.identified(x.o, fmt.Sprint("step ", i))
	assert.Check(x, x.o.State.IsFullyKnown(), "step %d leaves unknown values: %s", i, x.o.State)
	d := difference(step.want, plain(x.T, x.o.State))
	if does, plan = x.plan(step.config); does != noChange {
		x.Fatalf("%s\nThe second plan of step %d %s", x.forgotten(step, plan), i, does)
	}
	assert.Check(x, d == "" || step.want == nil, "step %d: the state (-want +got):\n%s", i, d)
	if step.does != noChange {
		x.latest = step.config
	}
}

// named checks that the summary of each warning names the object: a CLI shows one of several
// warnings with the same summary.
func (x *subject) named(diags []*tfprotov6.Diagnostic, objects ...*acctest.Object) {
	x.Helper()
	for _, d := range diags {
		isNamed := strings.Contains(d.Summary, " dedicated IP ") // a new one has no name
		for _, o := range objects {
			for _, name := range []string{"id", "name", "local_part", "target_email", "domain_name"} {
				if o != nil && !o.Gone() {
					text, _ := plain(x.T, o.State).(values)[name].(string)
					for _, canonical := range []func(string) (string, error){domainname.Normalize, emailaddr.Normalize} { // as the API writes it
						if spelled, err := canonical(text); err == nil {
							text = spelled
						}
					}
					isNamed = isNamed || len(text) > 1 && strings.Contains(d.Summary, text)
				}
			}
		}
		assert.Check(x, isNamed, "a summary does not name the object: %q", d.Summary)
	}
}

// identified checks the identity of an object.
func (x *subject) identified(o *acctest.Object, when string) {
	x.Helper()
	id := x.p.IdentityOf(x.typeName, o)
	assert.Check(x, id["id"] != "" && id["id"] == x.o.Text("id") && id["account_id"] == x.s.AccountID, "%s: the identity is %v, the id %s", when, id, x.o.Text("id"))
}

// imports imports the object by each id, and by its identity.
func (x *subject) imports() {
	x.Helper()
	id := x.o.Text("id")
	want := plain(x.T, x.o.State).(values)
	for _, name := range x.notImported {
		delete(want, name)
	}
	ids := append(x.ids, id, strings.ToUpper(id))
	if x.typeName == "mailhost_dedicated_ip" {
		ids = append(ids, x.o.Text("name"), plain(x.T, x.o.State).(values)["ip_addresses"].([]any)[0].(values)["ip"].(string))
	}
	identities := []values{{"id": id}, {"id": strings.ToUpper(id), "account_id": x.s.AccountID}}
	for i := range len(ids) + len(identities) {
		key, identity := "", values(nil)
		if i < len(ids) {
			key = ids[i]
		} else {
			identity = identities[i-len(ids)]
		}
		o, diags := x.p.Walk().Import(x.typeName, key, identity)
		x.p.NoErrors(diags)
		o, diags = x.p.Read(x.typeName, o)
		x.p.NoErrors(diags)
		x.identified(o, "import "+key)
		assert.Check(x, is.Equal(difference(want, plain(x.T, o.State)), ""), "import of %q %v (-want +got)", key, identity)
		plan, diags := x.p.Plan(x.typeName, x.latest, o)
		x.p.NoErrors(diags)
		assert.Check(x, len(plan.Replace) == 0 && plan.Text("id") == id, "import of %q is replaced because of %v", key, plan.Replace)
	}
	for _, wrong := range []values{{"id": ""}, {"id": "no id"}, {"id": id, "account_id": noID}} {
		_, diags := x.p.Import(x.typeName, "", wrong)
		assert.Check(x, acctest.Errors(diags) == 1, "the import of %v: %s", wrong, acctest.Render(diags))
	}
}

// disappears deletes the object outside Terraform, and has the next apply create it again.
func (x *subject) disappears() {
	x.Helper()
	assert.NilError(x.T, x.remove(x.o.Text("id")))
	o := *x.o
	o.Identity = nil // as in a state of an older Terraform
	gone, diags := x.p.Walk().Read(x.typeName, &o)
	x.p.NoErrors(diags)
	assert.Check(x, gone.Gone(), "a deleted object is still in the state: %s", gone.State)
	x.identified(gone, "gone")
	_, diags = x.p.Destroy(x.Context(), x.typeName, x.o)
	x.p.NoErrors(diags) // it is deleted already
	x.o = nil
	x.take(len(x.steps), step{config: x.latest, does: creates})
}

// ends destroys the object, or leaves it with a warning if the API can't delete.
func (x *subject) ends() {
	x.Helper()
	gone, diags := x.p.Destroy(x.Context(), x.typeName, x.o)
	x.p.NoErrors(diags)
	x.named(diags, x.o)
	assert.Check(x, gone.Gone(), "after the destroy the state has %s", gone.State)
	if x.s.PublishedOnly {
		acctest.Expect(x, diags, "WARNING", "will still exist")
		return
	}
	o, diags := x.p.Walk().Read(x.typeName, x.o)
	assert.Check(x, acctest.Errors(diags) <= 0 && o.Gone(), "after the destroy it is read as %s, %s", o.State, acctest.Render(diags))
}

// refusals checks the errors about configurations and imports.
func (x *subject) refusals(canRead bool) {
	x.Helper()
	for _, c := range x.refused {
		diags := x.p.Validate(x.typeName, c.config)
		if acctest.Errors(diags) == 0 {
			_, diags = x.p.Apply(x.Context(), x.typeName, c.config, nil)
		}
		acctest.Expect(x, diags, append([]string{"ERROR"}, c.want...)...)
		assert.Check(x, acctest.Errors(diags) == 1, "%v has more than one error: %s", c.config, acctest.Render(diags))
	}
	for _, c := range x.noImport {
		o, diags := x.p.Walk().Import(x.typeName, c.id, nil)
		if acctest.Errors(diags) == 0 {
			_, diags = x.p.Read(x.typeName, o)
		}
		if !canRead {
			c.want = []string{"no operation"}
		}
		acctest.Expect(x, diags, append([]string{"ERROR"}, c.want...)...)
	}
}

// TestFailedUpdate refuses each request of an update: the apply fails with the API's status, the
// state keeps what it had, and the next apply makes the change.
func TestFailedUpdate(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	for typeName, k := range kinds(t, s) {
		if k.change == nil {
			continue
		}
		p := s.Protocol(t, "")
		o, diags := p.Apply(t.Context(), typeName, k.config, nil)
		p.NoErrors(diags)
		config := merged(k.config, k.change)
		plan, diags := p.Plan(typeName, config, o)
		p.NoErrors(diags)
		s.Fault(t, fault.Rule{Operation: fault.Any, Status: 403})
		failed, diags := p.ApplyPlan(t.Context(), typeName, config, o, plan)
		acctest.Expect(t, diags, "ERROR", "403")
		assert.Check(t, failed.State.Equal(o.State), "%s: the state is %s after a failure, it was %s", typeName, failed.State, o.State)
		s.Faults.Clear()
		o, diags = p.Apply(t.Context(), typeName, config, failed)
		p.NoErrors(diags)
		_, diags = p.Destroy(t.Context(), typeName, o)
		p.NoErrors(diags)
	}
}
