package mailboxset_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

const typeName = "mailhost_mailbox_set"

// set returns a configuration: each key is a local part, or "key=First Last".
func set(changes map[string]any, keys ...string) map[string]any {
	entries := map[string]any{}
	for _, key := range keys {
		key, name, ok := strings.Cut(key, "=")
		if !ok {
			name = "Jane Doe"
		}
		first, last, _ := strings.Cut(name, " ")
		entries[key] = map[string]any{"first_name": first, "last_name": last}
	}
	all := map[string]any{"domain": "example.com", "mailboxes": entries}
	maps.Copy(all, changes)
	return all
}

type changes = map[string]any

// texts returns a map or a list of strings of an object's state, sorted, as "key=value".
func texts(t *testing.T, o *acctest.Object, name string) []string {
	t.Helper()
	var fields map[string]tftypes.Value
	assert.NilError(t, o.State.As(&fields))
	text := func(v tftypes.Value) string {
		if !v.IsKnown() {
			return "(unknown)"
		}
		var s string
		_ = v.As(&s)
		return s
	}
	if !fields[name].IsKnown() {
		return []string{"(unknown)"}
	}
	all := []string{}
	var entries map[string]tftypes.Value
	if fields[name].As(&entries) != nil {
		var items []tftypes.Value
		_ = fields[name].As(&items)
		for _, item := range items {
			all = append(all, text(item))
		}
		return all
	}
	for key, v := range entries {
		var names map[string]tftypes.Value
		if v.IsKnown() && v.As(&names) == nil {
			all = append(all, key+"="+text(names["first_name"])+" "+text(names["last_name"]))
		} else {
			all = append(all, key+"="+text(v))
		}
	}
	slices.Sort(all)
	return all
}

func expect(t *testing.T, o *acctest.Object, name string, want ...string) {
	t.Helper()
	got := texts(t, o, name)
	assert.Check(t, slices.Equal(got, want), "%s is %q, want %q", name, got, want)
}

func addressesOf(t *testing.T, s *acctest.Server) []string {
	t.Helper()
	all := []string{}
	for m, err := range s.Client.ListMailboxes(t.Context(), api.ListMailboxesRequest{}) {
		assert.NilError(t, err)
		all = append(all, m.LocalPart+"="+m.FirstName+" "+m.LastName)
	}
	slices.Sort(all)
	return all
}

func server(t *testing.T, o acctest.Options) *acctest.Server {
	t.Helper()
	s := acctest.NewServer(t, o)
	s.Domain(t, "example.com")
	return s
}

// isEmpty reports whether a plan changes nothing.
func isEmpty(plan, prior *acctest.Object) bool {
	return plan.State.Equal(prior.State) && len(plan.Replace) == 0
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	s.Mailbox(t, "example.com", "other")
	p := s.Protocol(t, "")

	plan, diags := p.Plan(typeName, set(nil, "Ann", "bob"), nil)
	p.NoErrors(diags)
	expect(t, plan, "addresses", "Ann=ann@example.com", "bob=bob@example.com")
	o, diags := p.Walk().Apply(t.Context(), typeName, set(nil, "Ann", "bob"), nil)
	p.NoErrors(diags)
	expect(t, o, "mailboxes", "Ann=Jane Doe", "bob=Jane Doe")
	expect(t, o, "addresses", "Ann=ann@example.com", "bob=bob@example.com")
	expect(t, o, "unmanaged", "other@example.com")

	// Refreshed, the plan is empty, also with keys in another case than the API's.
	o, diags = p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	plan, diags = p.Plan(typeName, set(nil, "Ann", "bob"), o)
	p.NoErrors(diags)
	assert.Check(t, isEmpty(plan, o) && len(diags) == 0, "the plan is not empty: %v\n%s", plan.State, acctest.Render(diags))

	// With one new and one renamed entry, the ids of the others stay known.
	changed := set(nil, "Ann=Joan Doe", "bob", "cid")
	plan, diags = p.Plan(typeName, changed, o)
	p.NoErrors(diags)
	got := texts(t, plan, "ids")
	assert.Check(t, !strings.Contains(got[0]+got[1], "unknown") && got[2] == "cid=(unknown)", "ids are planned as %q", got)
	expect(t, plan, "unmanaged", "other@example.com")
	o, diags = p.Apply(t.Context(), typeName, changed, o)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"ann=Joan Doe", "bob=Jane Doe", "cid=Jane Doe", "other=Jane Doe"}), "the domain")

	// A change of names requires no list.
	s.Fault(t, fault.Rule{Operation: "list-mailboxes", Status: 403})
	o, diags = p.Apply(t.Context(), typeName, set(nil, "Ann=Joan Doe", "bob=Bob Doe", "cid"), o)
	p.NoErrors(diags)
	s.Faults.Clear()
	o, diags = p.Apply(t.Context(), typeName, changed, o)
	p.NoErrors(diags)

	// A removal is allowed.
	plan, diags = p.Plan(typeName, set(changes{"max_deletions": 1}, "Ann=Joan Doe", "cid"), o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "deletes 1 mailbox of example.com with its mail", "bob@example.com")
	expect(t, plan, "addresses", "Ann=ann@example.com", "cid=cid@example.com")
	_, diags = p.ApplyPlan(t.Context(), typeName, set(changes{"max_deletions": 1}, "Ann=Joan Doe", "cid"), o, plan)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"ann=Joan Doe", "cid=Jane Doe", "other=Jane Doe"}), "the domain")
}

func TestInvalidEntriesAreReportedTogether(t *testing.T) {
	t.Parallel()
	p := acctest.NewServer(t, acctest.Options{}).Protocol(t, "")
	diags := p.Validate(typeName, set(nil, "ann", "ANN", "a b", "bob=X", "cid="+strings.Repeat("x", 101)+" Doe"))
	n := acctest.Errors(diags)
	assert.Check(t, n == 4, "%d errors:\n%s", n, acctest.Render(diags))
	acctest.Expect(t, diags, "Invalid key", "a b", "same address", `"ANN" and "ann"`, "last_name", "must have 1 to 100", "first_name")
	for name, mailboxes := range map[string]any{"map": acctest.Unknown, "entry": map[string]any{"ann": acctest.Unknown}} {
		diags := p.Validate(typeName, changes{"domain": "example.com", "mailboxes": mailboxes})
		assert.Check(t, len(diags) == 0, "unknown %s: %s", name, acctest.Render(diags))
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := set(changes{"max_deletions": 3}, "ann", "bob", "cid")
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	joan := "Joan"
	_, err := s.Client.UpdateMailbox(t.Context(), "ann@example.com", api.UpdateMailboxBody{FirstName: &joan})
	assert.NilError(t, err)
	// bob is deleted and created again: another mailbox, which the set does not manage.
	for _, address := range []string{"bob@example.com", "cid@example.com"} {
		assert.NilError(t, s.Client.Mailboxes.Delete(t.Context(), address))
	}
	s.Mailbox(t, "example.com", "bob")
	before := o
	o, diags = p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	expect(t, o, "mailboxes", "ann=Joan Doe")
	expect(t, o, "unmanaged", "bob@example.com")
	plan, diags := p.Plan(typeName, set(changes{"max_deletions": 3, "on_existing": "adopt"}, "ann", "bob", "cid"), o)
	p.NoErrors(diags)
	expect(t, plan, "mailboxes", "ann=Jane Doe", "bob=Jane Doe", "cid=Jane Doe")

	// With the earlier state, no mailbox with another id is deleted.
	_, diags = p.Apply(t.Context(), typeName, set(changes{"max_deletions": 3}, "ann"), before)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"ann=Joan Doe", "bob=Jane Doe"}), "the domain")
}

func TestImport(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	for _, local := range []string{"ann", "bob", "cid"} {
		s.Mailbox(t, "example.com", local)
	}
	d, err := s.Client.Domains.Get(t.Context(), "example.com")
	assert.NilError(t, err)
	p := s.Protocol(t, "")
	for _, by := range []struct {
		id       string
		identity map[string]any
	}{{"example.com", nil}, {d.ID, nil}, {"", map[string]any{"id": d.ID}}} {
		o, diags := p.Walk().Import(typeName, by.id, by.identity)
		p.NoErrors(diags)
		o, diags = p.Read(typeName, o)
		p.NoErrors(diags)
		got := p.IdentityOf(typeName, o)
		assert.Check(t, got["id"] == d.ID, "the identity is %v", got)
		plan, diags := p.Plan(typeName, set(nil, "ann", "bob", "cid"), o)
		p.NoErrors(diags)
		assert.Check(t, isEmpty(plan, o) && len(diags) == 0, "the plan after an import is not empty: %s", acctest.Render(diags))
		// Mailboxes that the configuration lacks are released.
		released, diags := p.Apply(t.Context(), typeName, set(nil, "bob"), o)
		p.NoErrors(diags)
		expect(t, released, "mailboxes", "bob=Jane Doe")
		expect(t, released, "unmanaged", "ann@example.com", "cid@example.com")
		// After that, removing an entry is a deletion.
		_, diags = p.Walk().Plan(typeName, set(nil), released)
		acctest.Expect(t, diags, "ERROR", "would delete 1 mailbox")
	}
	_, diags := p.Import(typeName, "example.org", nil)
	acctest.Expect(t, diags, "ERROR", "example.org")
	got := addressesOf(t, s)
	assert.Check(t, len(got) == 3, "the domain has %q", got)
}

func TestReplacement(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	s.Domain(t, "example.org")
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, set(nil, "ann"), nil)
	p.NoErrors(diags)
	for name, config := range map[string]map[string]any{"-replace": set(nil, "ann"), "allowed": set(changes{"max_deletions": 1, "on_existing": "adopt"}, "ann")} {
		_, diags = p.Walk().PlanReplacement(typeName, config, o)
		t.Log(name)
		acctest.Expect(t, diags, "ERROR", "1 mailbox to be created exists already", "Terraform's state has it", "terraform untaint", "moved block")
	}
	p.Together() // tainted
	_, diags = p.Read(typeName, o)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, set(nil, "ann"), nil)
	acctest.Expect(t, diags, "ERROR", "1 mailbox to be created exists already", "Terraform's state has it", "terraform untaint")
	// A reference by id to the same domain is no replacement.
	plan, diags := p.Walk().Plan(typeName, set(changes{"domain": o.Text("id")}, "ann"), o)
	p.NoErrors(diags)
	assert.Check(t, isEmpty(plan, o), "a reference by id is a change: %v", plan.Replace)
	// The value of the last apply counts too, because core deletes a deposed set with that value.
	_, diags = p.Walk().PlanReplacement(typeName, set(changes{"domain": "example.org", "max_deletions": 1}, "ann"), o)
	acctest.Expect(t, diags, "ERROR", "max_deletions is 0", "apply that first")
	o, diags = p.Apply(t.Context(), typeName, set(changes{"max_deletions": 1}, "ann"), o)
	p.NoErrors(diags)
	_, diags = p.Walk().PlanReplacement(typeName, set(changes{"domain": "example.org"}, "ann"), o)
	acctest.Expect(t, diags, "ERROR", "would delete 1 mailbox", "ann@example.com")
	_, diags = p.Walk().PlanReplacement(typeName, set(changes{"domain": "example.org", "max_deletions": 1}, "ann"), o)
	acctest.Expect(t, diags, "WARNING", "deletes 1 mailbox", "apply that alone before this plan")
	o, diags = p.ApplyReplacement(t.Context(), typeName, set(changes{"domain": "example.org", "max_deletions": 1}, "ann"), o)
	p.NoErrors(diags)
	expect(t, o, "addresses", "ann=ann@example.org")
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"ann=Jane Doe"}), "the account")
	// A delete that no plan named is refused.
	_, diags = p.ApplyPlan(t.Context(), typeName, nil, p.With(typeName, o, "max_deletions", 0), &acctest.Object{State: p.Null(typeName), Identity: o.Identity})
	acctest.Expect(t, diags, "ERROR", "would delete 1 mailbox")
}

func TestGone(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, set(nil, "ann"), nil)
	p.NoErrors(diags)
	assert.NilError(t, s.Client.Mailboxes.Delete(t.Context(), "ann@example.com"))
	s.Fault(t, fault.Rule{Operation: "list-mailboxes", Status: 403, Times: 1})
	_, diags = p.Walk().Read(typeName, o)
	acctest.Expect(t, diags, "ERROR: Can't read the mailbox set of example.com", "403")
	still, diags := p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	expect(t, still, "mailboxes")
	assert.NilError(t, s.Client.Domains.Delete(t.Context(), "example.com"))
	gone, diags := p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	assert.Check(t, gone.Gone(), "the set is still there: %v", gone.State)
	_, diags = p.Walk().Apply(t.Context(), typeName, set(nil), nil)
	acctest.Expect(t, diags, "ERROR: Can't create the mailbox set of example.com", "domain = mailhost_domain.main.name")
}

// TestManyFailures checks that an apply reports the first hundred failures at their keys, and failures
// with the same reason together.
func TestManyFailures(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	keys := []string{"zoe"}
	for i := range 102 {
		keys = append(keys, fmt.Sprintf("m%03d", i))
	}
	plan, diags := p.Plan(typeName, set(nil, keys...), nil)
	p.NoErrors(diags)
	for _, key := range keys[1:] {
		s.Mailbox(t, "example.com", key)
	}
	o, diags := p.ApplyPlan(t.Context(), typeName, set(nil, keys...), nil, plan)
	acctest.Expect(t, diags, "102 of 103 mailboxes of example.com were not created", `ElementKeyString("m000")`, "on_existing", "alias of another mailbox", `ElementKeyString("m099")`, "2 further entries were not applied", "m100", "m101")
	expect(t, o, "mailboxes", "zoe=Jane Doe")

	o, diags = p.Walk().Apply(t.Context(), typeName, set(nil, "zoe", "ann", "bob"), o)
	p.NoErrors(diags)
	s.Fault(t, fault.Rule{Operation: "update-mailbox", Status: 403})
	_, diags = p.Walk().Apply(t.Context(), typeName, set(nil, "zoe=Joan Doe", "ann=Joan Doe", "bob=Joan Doe"), o)
	acctest.Expect(t, diags, "ERROR at AttributeName(\"mailboxes\"): Can't update the mailbox ann@example.com, and 2 more", `mailboxes["zoe"]`)
	assert.Check(t, len(diags) == 1, "the diagnostics are %s", acctest.Render(diags))
}

// TestPublishedOnly checks that an API without lifecycle operations is enough, and that
// removed mailboxes are named.
func TestPublishedOnly(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, set(nil, "ann", "bob"), nil)
	p.NoErrors(diags)
	o, diags = p.Walk().Read(typeName, o)
	p.NoErrors(diags)
	plan, diags := p.Plan(typeName, set(nil, "ann=Joan Doe"), o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "1 mailbox of example.com will still exist", "bob@example.com")
	o, diags = p.ApplyPlan(t.Context(), typeName, set(nil, "ann=Joan Doe"), o, plan)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "still exist", "bob@example.com")
	o, _ = p.Walk().Read(typeName, o)
	expect(t, o, "mailboxes", "ann=Joan Doe")
	expect(t, o, "unmanaged", "bob@example.com")
	_, diags = p.Destroy(t.Context(), typeName, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "will still exist", "ann@example.com")
}

// TestRetired checks that entries named by retired may leave the set, deleted or kept, and that
// retired has no other effect.
func TestRetired(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	retired := changes{"retired": changes{"ANN": "delete", "bob": "keep", "gone": "delete", "eve": "keep"}}
	o, diags := p.Apply(t.Context(), typeName, set(retired, "Ann", "bob", "cid", "eve"), nil)
	p.NoErrors(diags)
	plan, diags := p.Walk().Plan(typeName, set(retired, "Ann", "bob", "cid", "eve"), o)
	assert.Check(t, isEmpty(plan, o) && len(diags) == 1, "retired changes entries that are there: %s", acctest.Render(diags))
	acctest.Expect(t, diags, "WARNING at AttributeName(\"retired\"): The mailbox set of example.com retires 3 mailboxes that it still contains", "Ann: delete", "bob: keep", "eve: keep", "Remove these keys")
	left := set(retired, "cid", "eve")
	plan, diags = p.Walk().Plan(typeName, left, o)
	acctest.Expect(t, diags, "deletes 1 mailbox of example.com", "ann@example.com", "retires 1 mailbox", "eve: keep", "releases 1 mailbox", "bob@example.com")
	expect(t, plan, "unmanaged", "bob@example.com")
	o, diags = p.Walk().ApplyPlan(t.Context(), typeName, left, o, plan)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"bob=Jane Doe", "cid=Jane Doe", "eve=Jane Doe"}), "the domain")
	plan, diags = p.Walk().Plan(typeName, set(changes{"retired": changes{"ANN": "delete", "bob": "keep", "eve": nil}}, "cid", "eve"), o)
	assert.Check(t, len(diags) == 0 && len(plan.Replace) == 0, "entries that have left are a warning: %s", acctest.Render(diags))
	_, diags = p.Plan(typeName, set(retired, "eve"), o)
	acctest.Expect(t, diags, "ERROR", "would delete 1 mailbox of example.com, and max_deletions is 0", "cid@example.com")
	_, diags = p.Plan(typeName, set(changes{"retired": acctest.Unknown}, "eve"), o)
	acctest.Expect(t, diags, "ERROR", "would delete 1 mailbox of example.com, and max_deletions is 0")

	// For a destroy, the value in the state counts.
	_, diags = p.Plan(typeName, nil, o)
	acctest.Expect(t, diags, "would delete 1 mailbox of example.com", "releases 1 mailbox", "as it was last applied, keeps them")
	o, diags = p.Apply(t.Context(), typeName, set(changes{"retired": changes{"cid": "delete", "eve": "keep"}}, "cid", "eve"), o)
	p.NoErrors(diags)
	_, diags = p.Destroy(t.Context(), typeName, o)
	p.NoErrors(diags)
	acctest.Expect(t, diags, "WARNING", "deletes 1 mailbox of example.com", "cid@example.com")
	assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"bob=Jane Doe", "eve=Jane Doe"}), "the domain")
}

// TestRetiredSpellings checks that two keys of retired that are one address are an error, and how a state
// of an earlier version with such keys is destroyed.
func TestRetiredSpellings(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	for _, how := range []any{"delete", "keep", nil, acctest.Unknown} {
		diags := p.Validate(typeName, set(changes{"retired": changes{"BOB": "delete", "bob": how, "ann": acctest.Unknown}}, "ann"))
		acctest.Expect(t, diags, `ERROR at AttributeName("retired").ElementKeyString("bob"): Two keys of retired are the same address`, `"BOB" and "bob"`)
		assert.Check(t, len(diags) == 1, "%s", acctest.Render(diags))
	}
	diags := p.Validate(typeName, set(changes{"retired": changes{"bob": "Delete", "eve": nil}}, "ann"))
	acctest.Expect(t, diags, `ERROR at AttributeName("retired").ElementKeyString("bob"): Invalid value of retired`, `retired["bob"]: must be "delete" or "keep", and not "Delete"`)
	assert.Check(t, len(diags) == 1, "%s", acctest.Render(diags))

	o, diags := p.Apply(t.Context(), typeName, set(nil, "bob"), nil)
	p.NoErrors(diags)
	for range 20 {
		_, diags = p.Walk().Plan(typeName, nil, p.With(typeName, o, "retired", changes{"BOB": "delete", "bob": "keep", "Bob": "delete"}))
		acctest.Expect(t, diags, "releases 1 mailbox")
		p.NoErrors(diags)
	}
}

// TestUnknownMaxDeletions checks that an unknown max_deletions counts as 0, and that the error says so.
func TestUnknownMaxDeletions(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	s.Domain(t, "example.org")
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, set(changes{"max_deletions": 9}, "ann", "bob", "cid"), nil)
	p.NoErrors(diags)
	unknown := changes{"max_deletions": acctest.Unknown, "retired": changes{"cid": "delete"}}
	_, diags = p.Plan(typeName, set(unknown, "ann"), o)
	acctest.Expect(t, diags, "ERROR at AttributeName(\"max_deletions\"): The plan would delete 1 mailbox of example.com, and max_deletions is known only after the apply", "bob@example.com", "Set max_deletions to a value that the plan knows.")
	_, diags = p.Plan(typeName, set(unknown, "ann", "bob"), o)
	p.NoErrors(diags)
	unknown["domain"] = "example.org"
	_, diags = p.PlanReplacement(typeName, set(unknown, "ann", "bob", "cid"), o)
	acctest.Expect(t, diags, "would delete 3 mailboxes of example.com, and max_deletions is known only after the apply")
}

// TestRulesToDeletedMailboxes checks that the deletes of a set and of a single mailbox name the forwarding
// rules to their addresses, from one list in a plan.
func TestRulesToDeletedMailboxes(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	s.Domain(t, "example.net")
	s.Domain(t, "example.org")
	p := s.Protocol(t, "")
	allowed := changes{"max_deletions": 9}
	o, diags := p.Apply(t.Context(), typeName, set(allowed, "ann", "bob", "cid"), nil)
	p.NoErrors(diags)
	eve, diags := p.Apply(t.Context(), "mailhost_mailbox", changes{"domain": "example.com", "local_part": "eve", "first_name": "Eve", "last_name": "Doe"}, nil)
	p.NoErrors(diags)
	rule := func(target, domain string) *acctest.Object {
		o, diags := p.Apply(t.Context(), "mailhost_forwarding", changes{"target_email": target, "domain": domain}, nil)
		p.NoErrors(diags)
		return o
	}
	toBob := rule("Bob@example.com", "example.org")
	rule("bob@example.com", "example.net")
	rule("ann@example.com", "example.org")
	rule("eve@EXAMPLE.com", "example.com")

	s.Journal.Clear()
	p.Together()
	_, diags = p.Plan(typeName, set(allowed, "ann", "cid"), o)
	acctest.Expect(t, diags, "deletes 1 mailbox of example.com", "Forwarding rules to it stop forwarding, unless this plan changes their target:\n  - rule to bob@example.com of the domain example.net\n  - rule to bob@example.com of the domain example.org\n\n", "Concerns: mail, reach")
	_, diags = p.Plan("mailhost_mailbox", nil, eve)
	acctest.Expect(t, diags, "The plan deletes the mailbox eve@example.com with its mail", "\n  - rule to eve@example.com of the domain example.com\n\n", "Concerns: mail, reach")
	_, diags = p.Plan("mailhost_mailbox", changes{"domain": "example.com", "local_part": "eva", "first_name": "Eve", "last_name": "Doe"}, eve)
	acctest.Expect(t, diags, "The plan replaces the mailbox eve@example.com", "- rule to eve@example.com of the domain example.com", "Concerns: mail, reach")
	lists := s.Journal.Entries(journal.Filter{Operation: "list-forwarding"})
	assert.Check(t, len(lists) == 1, "%d lists of rules", len(lists))

	// A rule that the plan destroys is lost for another reason, and one to another address is not lost.
	p.Together()
	_, diags = p.Plan("mailhost_forwarding", nil, toBob)
	p.NoErrors(diags)
	_, diags = p.Plan(typeName, set(allowed, "ann", "cid"), o)
	acctest.Expect(t, diags, "of the domain example.net\n\n")
	_, diags = p.Walk().Plan(typeName, set(allowed, "ann", "bob"), o)
	assert.Check(t, len(diags) == 1 && !strings.Contains(acctest.Render(diags), "orwarding"), "%s", acctest.Render(diags))

	s.Journal.Clear()
	_, diags = p.Walk().Plan(typeName, set(allowed, "ann=Joan Doe", "bob", "cid", "dee"), o)
	p.NoErrors(diags)
	lists = s.Journal.Entries(journal.Filter{Operation: "list-forwarding"})
	assert.Check(t, len(lists) == 0, "a plan that deletes nothing lists rules")
	s.Fault(t, fault.Rule{Operation: "list-forwarding", Status: 403})
	_, diags = p.Walk().Plan(typeName, set(allowed, "ann"), o)
	acctest.Expect(t, diags, "deletes 2 mailboxes", "Forwarding rules to one of them stop forwarding.\n", "Concerns: mail\n")
}

// TestRulesToAliases checks that the deletes name the rules to aliases of a mailbox too.
func TestRulesToAliases(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	ann := fixture.Mailbox{LocalPart: "ann", FirstName: "Jane", LastName: "Doe", Aliases: []fixture.Alias{{Alias: "info@example.com"}}}
	s.AccountID = "0a7d6d0e-3f3b-4c57-9d0c-4b0f8a1f5d10"
	err := s.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{ID: s.AccountID, Domains: []fixture.Domain{{Name: "example.com", Mailboxes: []fixture.Mailbox{ann}}}}}})
	assert.NilError(t, err)
	s.Token, err = s.Service.IssueOwnerToken(t.Context(), s.AccountID, "test")
	assert.NilError(t, err)
	p := s.Protocol(t, "")
	_, diags := p.Apply(t.Context(), "mailhost_forwarding", changes{"target_email": "info@example.com"}, nil)
	p.NoErrors(diags)
	for name, id := range map[string]string{typeName: "example.com", "mailhost_mailbox": "ann@example.com"} {
		imported, diags := p.Import(name, id, nil)
		p.NoErrors(diags)
		o, diags := p.Walk().Read(name, imported)
		p.NoErrors(diags)
		config := set(changes{"retired": changes{"ann": "delete"}})
		if name != typeName {
			config = nil
		}
		_, diags = p.Plan(name, config, o)
		acctest.Expect(t, diags, "deletes", "\n  - rule to info@example.com of the account\n\n", "Concerns: mail, reach")
	}
}

// TestHandOver checks that another set, or a single resource, can adopt a kept mailbox in the same
// apply, in every order of core's calls.
func TestHandOver(t *testing.T) {
	t.Parallel()
	single := changes{"domain": "example.com", "local_part": "ann", "first_name": "Jane", "last_name": "Doe", "on_existing": "adopt"}
	for other, config := range map[string]changes{typeName: set(changes{"on_existing": "adopt"}, "ann"), "mailhost_mailbox": single} {
		for order := range 4 {
			s := server(t, acctest.Options{})
			p := s.Protocol(t, "")
			o, diags := p.Apply(t.Context(), typeName, set(nil, "ann", "bob"), nil)
			p.NoErrors(diags)
			rest := set(changes{"retired": changes{"ann": "keep"}}, "bob")
			var released, adopted *acctest.Object
			check := func(o *acctest.Object, diags []*tfprotov6.Diagnostic) *acctest.Object { p.NoErrors(diags); return o }
			read := func() { check(p.Read(typeName, o)) }
			release := func() { released = check(p.Plan(typeName, rest, o)) }
			adopt := func() { adopted = check(p.Plan(other, config, nil)) }
			p.Together()
			switch order {
			case 0:
				read()
				release()
				adopt()
			case 1:
				adopt()
				read()
				release()
			case 2: // without a refresh
				adopt()
				release()
			case 3:
				read()
				done := make(chan struct{})
				go func() { adopt(); close(done) }()
				release()
				<-done
			}
			p.Together()
			steps := []func(){
				func() { check(p.ApplyPlan(t.Context(), typeName, rest, o, released)) },
				func() { adopted = check(p.ApplyPlan(t.Context(), other, config, nil, adopted)) },
			}
			steps[order%2]()
			steps[1-order%2]()
			assert.Check(t, is.DeepEqual(addressesOf(t, s), []string{"ann=Jane Doe", "bob=Jane Doe"}), "%s, %d: the domain", other, order)
		}
	}
}

// TestList checks that each domain is listed as a set, and that the generated configuration plans nothing.
func TestList(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	s.Domain(t, "other.com")
	p := s.Protocol(t, "")
	_, diags := p.Apply(t.Context(), typeName, set(nil, "jane", "zoe=Zoë O'Hara"), nil)
	p.NoErrors(diags)
	listed := p.ExpectListed(t, typeName, nil, "example.com", "other.com")
	expect(t, &listed[0].Object, "mailboxes", "jane=Jane Doe", "zoe=Zoë O'Hara")
	p.ExpectListed(t, typeName, map[string]any{"search": "OTHER"}, "other.com")
	s.Fault(t, fault.Rule{Operation: "list-mailboxes", Status: 403, Times: 9})
	_, diags = p.List(typeName, nil, 10)
	assert.Check(t, acctest.Errors(diags) != 0, "mailboxes that can't be read are no error")
}
