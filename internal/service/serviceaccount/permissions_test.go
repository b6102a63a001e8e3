package serviceaccount_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// grants returns the sorted permissions of a service account.
func grants(t *testing.T, s *acctest.Server, id string) (all []string) {
	t.Helper()
	for g, err := range s.Client.ListAuthorizations(t.Context(), api.ListAuthorizationsRequest{SubjectID: id}) {
		assert.NilError(t, err)
		text := g.GrantKind
		if g.CapabilityKey != nil {
			text = *g.CapabilityKey
		}
		if g.ResourceID != nil {
			text += " in " + *g.ResourceType + " " + *g.ResourceID
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// TestPermissions creates a service account with fewer permissions than the provider's credential,
// and changes them in and outside of Terraform.
func TestPermissions(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	with := func(permissions ...any) map[string]any {
		return map[string]any{"name": "CI", "permissions": permissions}
	}
	view := map[string]any{"capability_key": "mailbox.view"}
	create := map[string]any{"capability_key": "mailbox.create", "resource_type": "workspace", "resource_id": strings.ToUpper(s.WorkspaceID)}
	inWorkspace := "mailbox.create in workspace " + s.WorkspaceID

	o, diags := p.Apply(t.Context(), typeName, with(view, create), nil)
	p.NoErrors(diags)
	assert.Check(t, !strings.Contains(acctest.Render(diags), "owner"), "warned of an owner:\n%s", acctest.Render(diags))
	check := func(want ...string) {
		t.Helper()
		assert.Check(t, is.DeepEqual(grants(t, s, o.Text("id")), want), "what it may")
		o, diags = p.Read(typeName, o)
		p.NoErrors(diags)
	}
	check(inWorkspace, "mailbox.view")
	plan, diags := p.Plan(typeName, with(view, create), o)
	assert.Check(t, plan.State.Equal(o.State), "the second plan is not empty: %s\n%s", plan.State, acctest.Render(diags))
	imported, diags := p.Import(typeName, o.Text("id"), nil)
	p.NoErrors(diags)
	imported, diags = p.Read(typeName, imported)
	p.NoErrors(diags)
	lower := maps.Clone(create)
	lower["resource_id"] = s.WorkspaceID
	if plan, diags := p.Plan(typeName, with(view, lower), imported); !plan.State.Equal(imported.State) {
		t.Errorf("the import has other permissions: %s\n%s", imported.State, acctest.Render(diags))
	}
	for name, o := range map[string]*acctest.Object{"imported": imported, "created": o} {
		plan, diags = p.Plan(typeName, map[string]any{"name": "CI"}, o)
		assert.Check(t, len(diags) == 0 && plan.State.Equal(o.State), "%s, without permissions: the plan is %s, replacing %v, %s", name, plan.State, plan.Replace, acctest.Render(diags))
		plan, diags = p.Plan(typeName, map[string]any{"name": "CI", "rotation_triggers": map[string]any{"a": "b"}}, p.With(typeName, o, "token", "t"))
		p.NoErrors(diags)
		replacing(t, "the successor has more rights", plan, "rotation_triggers")
		acctest.Expect(t, diags, `WARNING: The plan makes the service account "CI" an owner of the account`)
	}
	update := with(create, map[string]any{"capability_key": "domain.view"})
	o, diags = p.Apply(t.Context(), typeName, update, o)
	p.NoErrors(diags)
	check("domain.view", inWorkspace)

	assert.NilError(t, s.Client.GrantAuthorization(t.Context(), api.GrantAuthorizationBody{GrantKind: "account_owner", SubjectType: "service_account", SubjectID: o.Text("id")}))
	check("account_owner", "domain.view", inWorkspace)
	plan, diags = p.Plan(typeName, update, o)
	if p.NoErrors(diags); plan.State.Equal(o.State) || len(plan.Replace) > 0 {
		t.Errorf("a grant made elsewhere: the plan is %s, and replaces because of %v", plan.State, plan.Replace)
	}
	o, diags = p.Apply(t.Context(), typeName, update, o)
	p.NoErrors(diags)
	check("domain.view", inWorkspace)

	inherits, diags := p.Apply(t.Context(), typeName, map[string]any{"name": "inherits"}, nil)
	p.NoErrors(diags)
	assert.Check(t, inherits.Null("permissions"), "%s", inherits.State)
	elsewhere := map[string]any{"capability_key": "mailbox.view", "resource_type": "domain", "resource_id": s.WorkspaceID}
	_, diags = p.Apply(t.Context(), typeName, with(elsewhere), o)
	acctest.Expect(t, diags, `AttributeName("permissions")`, `Can't change the permissions of the service account "CI"`, "has no domain")
	o, diags = p.Apply(t.Context(), typeName, with(elsewhere), nil)
	acctest.Expect(t, diags, `AttributeName("permissions")`, `Can't restrict the service account "CI" to its permissions`, "has no domain", o.Text("id"), "it was discarded", "the next apply revokes it")
	assert.Check(t, !o.Null("id") && o.Null("token"), "a create that half succeeded has the state %s", o.State)
}

// TestNewTokenIsRestrictedFirst refuses each request that restricts a new service account: its token is
// then in no state and no result. Otherwise its surplus rights end before it gets others.
func TestNewTokenIsRestrictedFirst(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	p := s.Protocol(t, "")
	config := map[string]any{"name": "CI", "permissions": []any{map[string]any{"capability_key": "mailbox.view"}, map[string]any{"capability_key": "domain.view"}}}
	const list, revoke, grant = "list-authorizations", "revoke-authorization", "grant-authorization"
	for _, refused := range []fault.Rule{{Operation: list}, {Operation: revoke}, {Operation: grant}, {Operation: grant, Nth: 2}} {
		refused.Status = http.StatusForbidden
		s.Fault(t, refused)
		o, diags := p.Apply(t.Context(), typeName, config, nil)
		acctest.Expect(t, diags, "ERROR", `Can't restrict the service account "CI"`, "HTTP 403", o.Text("id"), "nobody has it", "tainted")
		assert.Check(t, !o.Null("id") && o.Null("token"), "%+v: the state is %s", refused, o.State)
		s.Faults.Clear()
		s.Fault(t, refused)
		_, diags = p.Open(tokenType, map[string]any{"permissions": config["permissions"]})
		acctest.Expect(t, diags, "ERROR", `Can't restrict the service account "terraform-ephemeral"`, "was revoked again")
		s.Faults.Clear()
		o, _ = p.ApplyReplacement(t.Context(), typeName, config, o)
		assert.Check(t, is.DeepEqual(grants(t, s, o.Text("id")), []string{"domain.view", "mailbox.view"}), "what it may")
		assert.Check(t, !o.Null("token") && len(living(t, s)) == 1, "%+v: the replacement leaves %s, and %v", refused, o.State, living(t, s))
		_, diags = p.Destroy(t.Context(), typeName, o)
		p.NoErrors(diags)
	}
	s.Journal.Clear()
	o, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(s.Sent(), []string{"create-service-account", revoke, grant, grant}), "a new one")
	s.Journal.Clear()
	_, diags = p.Apply(t.Context(), typeName, map[string]any{"name": "CI", "permissions": []any{map[string]any{"capability_key": "mailbox.create"}}}, o)
	p.NoErrors(diags)
	assert.Check(t, is.DeepEqual(s.Sent(), []string{grant, revoke, revoke}), "one in use")
}

// TestPermissionsRefused plans permissions that can't be granted.
func TestPermissionsRefused(t *testing.T) {
	t.Parallel()
	view := map[string]any{"capability_key": "mailbox.view"}
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	_, diags := s.Protocol(t, "").Plan(typeName, map[string]any{"name": "CI", "permissions": []any{view}}, nil)
	acctest.Expect(t, diags, "ERROR", "permissions", `Can't restrict the service account "CI"`, "no operation that grants")
	s = acctest.NewServer(t, acctest.Options{})
	_, diags = s.Protocol(t, "").Apply(t.Context(), typeName, map[string]any{"name": "CI", "permissions": []any{
		map[string]any{"capability_key": "mailbox.view", "resource_type": "domain"}, map[string]any{"capability_key": "mailbox.fly"}, map[string]any{},
	}}, nil)
	acctest.Expect(t, diags, "ERROR", "names only half of its resource", `There is no capability "mailbox.fly"`, "A permission without capability_key")
	_, diags = s.Protocol(t, "").Apply(t.Context(), typeName, map[string]any{"name": "CI", "permissions": []any{view, nil}}, nil)
	acctest.Expect(t, diags, "ERROR", "A permission without capability_key")
	// For a permission from a variable, the CLI validates an unknown value.
	p := s.Protocol(t, "")
	unknown := map[string]any{"name": "CI", "permissions": []any{acctest.Unknown}}
	p.NoErrors(p.Validate(typeName, unknown))
	_, diags = p.Plan(typeName, unknown, nil)
	p.NoErrors(diags)
	team := map[string]any{"capability_key": "mailbox.view", "resource_type": "team", "resource_id": s.WorkspaceID}
	acctest.Expect(t, s.Protocol(t, "").Validate(typeName, map[string]any{"name": "CI", "permissions": []any{team}}), "permissions.resource_type must be one of workspace, domain")
	_, err := s.Client.FindServiceAccount(t.Context(), "CI")
	assert.Check(t, client.IsNotFound(err), "something was created: %v", err)
}

// TestTokenPermissions opens a token with fewer permissions than the provider's credential, and a
// token that can't be restricted.
func TestTokenPermissions(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		p := s.Protocol(t, "")
		view := map[string]any{"capability_key": "mailbox.view", "resource_type": "workspace", "resource_id": s.WorkspaceID}
		o, diags := p.Open(tokenType, map[string]any{"permissions": []any{view}})
		if s.PublishedOnly {
			acctest.Expect(t, diags, "ERROR", "permissions", `Can't restrict the service account "terraform-ephemeral"`, "no operation that grants")
			return
		}
		p.NoErrors(diags)
		assert.Check(t, is.DeepEqual(grants(t, s, o.Text("id")), []string{"mailbox.view in workspace " + s.WorkspaceID}), "what it may")
		p.NoErrors(p.Close(tokenType, o))

		view["resource_type"] = "domain"
		_, diags = p.Open(tokenType, map[string]any{"permissions": []any{view}})
		acctest.Expect(t, diags, `AttributeName("permissions")`, "to its permissions", "has no domain", "was revoked again")
		left := living(t, s)
		assert.Check(t, len(left) == 0, "a token that can't be restricted has left %v", left)
		_, diags = p.Open(tokenType, map[string]any{"permissions": []any{map[string]any{"capability_key": "mailbox.fly"}}})
		acctest.Expect(t, diags, `There is no capability "mailbox.fly"`)
	})
}
