package mailboxset_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestDecomposedNames checks that a name in decomposed Unicode, as written on macOS, is no change.
func TestDecomposedNames(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	_, err := s.Client.CreateMailbox(t.Context(), api.CreateMailboxBody{Domain: "example.com", LocalPart: "zoe", FirstName: "Zoe\u0308", LastName: "Doe"})
	assert.NilError(t, err)
	p := s.Protocol(t, "")
	_, diags := p.Plan(typeName, set(changes{"on_existing": "adopt"}, "zoe=Zo\u00eb Doe"), nil)
	p.NoErrors(diags)
	text := acctest.Render(diags)
	assert.Check(t, strings.Contains(text, "adopts 1 mailbox") && !strings.Contains(text, "name changes"), "the plan is %s", text)
}

// TestDeletingMailbox checks that the plan warns about adopting a mailbox that is being deleted.
func TestDeletingMailbox(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	ann := fixture.Mailbox{LocalPart: "ann", FirstName: "Jane", LastName: "Doe", Status: vocab.MailboxDeleting}
	s.AccountID = "0a7d6d0e-3f3b-4c57-9d0c-4b0f8a1f5d10"
	err := s.Service.LoadFixture(t.Context(), &fixture.Fixture{Accounts: []fixture.Account{{ID: s.AccountID, Domains: []fixture.Domain{{Name: "example.com", Mailboxes: []fixture.Mailbox{ann}}}}}})
	assert.NilError(t, err)
	s.Token, err = s.Service.IssueOwnerToken(t.Context(), s.AccountID, "test")
	assert.NilError(t, err)
	_, diags := s.Protocol(t, "").Plan(typeName, set(changes{"on_existing": "adopt"}, "ann"), nil)
	acctest.Expect(t, diags, "adopts 1 mailbox", "- ann@example.com, whose status is deleting")
	_, diags = s.Protocol(t, "").Plan("mailhost_mailbox", map[string]any{"domain": "example.com", "local_part": "ann", "first_name": "Jane", "last_name": "Doe", "on_existing": "adopt"}, nil)
	acctest.Expect(t, diags, "adopts the mailbox ann@example.com", "Its status is deleting")
}

// TestExistingMailboxes adopts mailboxes in a create and in updates.
func TestExistingMailboxes(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	id := s.Mailbox(t, "example.com", "ann").ID
	p := s.Protocol(t, "")
	o, diags := p.Apply(t.Context(), typeName, set(changes{"on_existing": "adopt"}, "ann=Anna Roe", "bob"), nil)
	p.NoErrors(diags)
	got := texts(t, o, "ids")
	assert.Check(t, got[0] == "ann="+id, "ids are %q, want %s", got, id)
	expect(t, o, "unmanaged")

	// The same in an update: refused, then adopted.
	s.Mailbox(t, "example.com", "cid")
	o, _ = p.Walk().Read(typeName, o)
	expect(t, o, "unmanaged", "cid@example.com")
	_, diags = p.Plan(typeName, set(nil, "ann=Anna Roe", "bob", "cid"), o)
	acctest.Expect(t, diags, "ERROR", "exists already", `mailboxes["cid"]`, "on_existing")
	assert.Check(t, !strings.Contains(acctest.Render(diags), "import the domain"), "the state has the set already: %s", acctest.Render(diags))
	o, diags = p.Apply(t.Context(), typeName, set(changes{"on_existing": "adopt"}, "ann=Anna Roe", "bob", "cid"), o)
	p.NoErrors(diags)
	expect(t, o, "unmanaged")

	// Without a refresh, only the apply can report the mailbox, at its key.
	for _, key := range []string{"dee", "fay", "gus", "hal"} {
		s.Mailbox(t, "example.com", key)
	}
	o, diags = p.Apply(t.Context(), typeName, set(nil, "ann=Anna Roe", "bob", "cid", "dee", "eve", "fay", "gus", "hal"), o)
	acctest.Expect(t, diags, `ERROR at AttributeName("mailboxes").ElementKeyString("dee")`, "dee@example.com", "on_existing", "fay@", "gus@", "hal@")
	expect(t, o, "mailboxes", "ann=Anna Roe", "bob=Jane Doe", "cid=Jane Doe", "eve=Jane Doe")
}

// TestForgottenRemovedBlock imports a set while the single resources are destroyed, without a
// removed block: the plan is refused, in whatever order the CLI plans them.
func TestForgottenRemovedBlock(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	const single = "mailhost_mailbox"
	names := []string{"ann", "bob", "cid", "dee"}
	p := s.Protocol(t, "")
	var singles []*acctest.Object
	for _, name := range names {
		o, diags := p.Apply(t.Context(), single, map[string]any{"domain": "example.com", "local_part": name, "first_name": "Jane", "last_name": "Doe"}, nil)
		p.NoErrors(diags)
		singles = append(singles, o)
	}
	o, diags := p.Import(typeName, "example.com", nil)
	p.NoErrors(diags)
	for before := range len(names) + 1 { // the number of singles planned before the set
		p.Together()
		imported, diags := p.Read(typeName, o)
		p.NoErrors(diags)
		var all []*tfprotov6.Diagnostic
		plan := func(singles []*acctest.Object) {
			for _, one := range singles {
				_, diags := p.Plan(single, nil, one)
				all = append(all, diags...)
			}
		}
		plan(singles[:before])
		_, diags = p.Plan(typeName, set(nil, names...), imported)
		all = append(all, diags...)
		plan(singles[before:])
		acctest.Expect(t, all, "ERROR", "destroy = false")
	}
}

// TestOtherResources checks that a mailbox has one owner.
func TestOtherResources(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	const single = "mailhost_mailbox"
	ann := map[string]any{"domain": "example.com", "local_part": "ann", "first_name": "Jane", "last_name": "Doe"}
	owned, diags := p.Apply(t.Context(), single, ann, nil)
	p.NoErrors(diags)

	// The set does not adopt the mailbox while the single resource manages it.
	p.Together()
	owned, diags = p.Read(single, owned)
	p.NoErrors(diags)
	_, diags = p.Plan(single, ann, owned)
	p.NoErrors(diags)
	d, err := s.Client.Domains.Get(t.Context(), "example.com")
	assert.NilError(t, err)
	for _, domain := range []string{"example.com", d.ID} {
		_, diags = p.Plan(typeName, set(changes{"domain": domain, "on_existing": "adopt"}, "ann"), nil)
		acctest.Expect(t, diags, "ERROR", "1 mailbox to be created exists already", "Terraform's state has it", "import the domain into the set")
	}
}

// TestOwnerFoundByTheApply checks that a set adopts no mailbox that another resource acquired in the
// same apply, after the plan.
func TestOwnerFoundByTheApply(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	p := s.Protocol(t, "")
	adopt := set(changes{"on_existing": "adopt"}, "ann", "bob")
	plan, diags := p.Plan(typeName, adopt, nil)
	p.NoErrors(diags)
	const single = "mailhost_mailbox"
	ann := map[string]any{"domain": "example.com", "local_part": "ann", "first_name": "Jane", "last_name": "Doe"}
	owned, diags := p.Plan(single, ann, nil)
	p.NoErrors(diags)
	p.Walk()
	_, diags = p.ApplyPlan(t.Context(), single, ann, nil, owned)
	p.NoErrors(diags)
	o, diags := p.ApplyPlan(t.Context(), typeName, adopt, nil, plan)
	acctest.Expect(t, diags, `"ann"`, "Can't adopt the mailbox ann@example.com", "Another resource of this run manages it", "Remove one of the two")
	expect(t, o, "mailboxes", "bob=Jane Doe")
}

// TestNotTheSets checks that a set neither creates nor deletes a mailbox that another resource of the
// same apply manages, and deletes no mailbox with a changed address; and that two resources of an
// apply don't adopt one mailbox.
func TestNotTheSets(t *testing.T) {
	t.Parallel()
	s := server(t, acctest.Options{})
	var edit atomic.Value
	edit.Store(func(response string) string { return response })
	p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		acctest.Rewrite(w, r, next, edit.Load().(func(string) string))
	}))
	o, diags := p.Apply(t.Context(), typeName, set(changes{"max_deletions": 9}, "ann", "bob"), nil)
	p.NoErrors(diags)
	const single = "mailhost_mailbox"
	ann := map[string]any{"domain": "example.com", "local_part": "ann", "first_name": "Jane", "last_name": "Doe", "on_existing": "adopt"}
	destroy, diags := p.Walk().Plan(typeName, nil, o)
	p.NoErrors(diags)
	adopt, diags := p.Walk().Plan(single, ann, nil)
	p.NoErrors(diags)
	p.Walk()
	_, diags = p.ApplyPlan(t.Context(), single, ann, nil, adopt)
	p.NoErrors(diags)
	twice, diags := p.ApplyPlan(t.Context(), single, ann, nil, adopt)
	acctest.Expect(t, diags, "ERROR", "another resource of the configuration creates or adopts it")
	assert.Check(t, twice.Gone(), "two resources have one mailbox: %s", twice.State)
	edit.Store(strings.NewReplacer(`"local_part":"bob"`, `"local_part":"rob"`).Replace)
	o, diags = p.ApplyPlan(t.Context(), typeName, nil, o, destroy)
	acctest.Expect(t, diags, "Can't delete the mailbox ann@example.com", "just adopted it for another resource")
	expect(t, o, "mailboxes", "ann=Jane Doe")
	got := addressesOf(t, s)
	assert.Check(t, len(got) == 2, "the domain has %q", got)

	// The lookup after a create with unknown outcome may find a mailbox that another resource created.
	id := s.Mailbox(t, "example.com", "dee").ID
	ann["local_part"] = "dee"
	cid := set(nil, "cid")
	create, diags := p.Walk().Plan(typeName, cid, nil)
	p.NoErrors(diags)
	adopt, diags = p.Walk().Plan(single, ann, nil)
	p.NoErrors(diags)
	p.Walk()
	_, diags = p.ApplyPlan(t.Context(), single, ann, nil, adopt)
	p.NoErrors(diags)
	edit.Store(func(response string) string {
		if !strings.Contains(response, `"failed":[]`) { // a list
			return response
		}
		return regexp.MustCompile(`"id":"[^"]*"`).ReplaceAllString(response, `"id":"`+id+`"`)
	})
	o, diags = p.ApplyPlan(t.Context(), typeName, cid, nil, create)
	acctest.Expect(t, diags, "ERROR", "Can't create the mailbox cid@example.com", "Another resource of this run manages it")
	assert.Check(t, o.Gone(), "the failed create leaves %s", o.State)
}
