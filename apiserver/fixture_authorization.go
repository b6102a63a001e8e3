package apiserver

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var subjectLimits = api.LimitsOf[api.GrantAuthorizationBody]("subject_id")

func (p *accountPlanner) planGrant(at fixturePlace, f FixtureAuthorization) {
	g := store.Authorization{
		AccountID:   p.id,
		GrantKind:   p.choice(at, "grant_kind", f.GrantKind, vocab.GrantCapability, vocab.GrantCapability, vocab.GrantAccountOwner, vocab.GrantSuperAdmin),
		SubjectType: p.choice(at, "subject_type", f.SubjectType, vocab.SubjectUser, vocab.SubjectUser, vocab.SubjectGroup),
		SubjectID:   p.text(at, "subject_id", f.SubjectID, subjectLimits), CapabilityKey: f.CapabilityKey,
		ResourceType: p.choice(at, "resource_type", f.ResourceType, "", vocab.ResourceWorkspace, vocab.ResourceDomain),
	}
	granted := g.GrantKind
	switch {
	case g.GrantKind == vocab.GrantCapability:
		granted = g.CapabilityKey
		if !slices.Contains(api.Capabilities(), vocab.Capability(g.CapabilityKey)) {
			p.fail(at, "capability_key: no operation asks for %.80q", g.CapabilityKey)
		}
	case g.CapabilityKey != "" || g.ResourceType != "":
		p.fail(at, "capability_key, resource_type: a grant of the kind %s has none", g.GrantKind)
	}
	g.ResourceID = p.resource(at, f)
	if g.ID = p.optionalID(at, f.ID); g.ID == "" {
		g.ID = api.DerivedID(p.id, "authorization:"+g.SubjectType+":"+g.SubjectID+":"+granted+":"+g.ResourceID)
	}
	p.once(at, g.ID)
	p.grants = append(p.grants, planned[store.Authorization]{at, g})
}

// resource returns the id of what a grant is narrowed to.
func (p *accountPlanner) resource(at fixturePlace, f FixtureAuthorization) string {
	switch {
	case (f.ResourceType == "") != (f.Resource == ""):
		p.fail(at, "resource_type, resource: give both or none")
	case f.ResourceType == vocab.ResourceWorkspace:
		return p.refer(at, "resource", f.Resource, p.workspaceRefs)
	case f.ResourceType == vocab.ResourceDomain:
		ref := f.Resource
		if name, err := domainname.Normalize(ref); err == nil {
			ref = name
		}
		return p.refer(at, "resource", ref, p.domainRefs)
	}
	return ""
}

func (l *fixtureLoader) makeGrants(tx store.Tx) error {
	return each(l.grants, func(_ int, g store.Authorization) error {
		g.CreatedAt = l.at
		return tx.CreateAuthorization(&g)
	})
}
