package access

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// grantNames has the names of what grants have only ids of: as far as the caller may see them,
// because no grant depends on a name.
type grantNames struct {
	// subjects are by type and id, because a group and a service account may have the same id.
	subjects, resources map[string]string
	// revoked is when a service account was revoked. Its grants stay, and permit nothing.
	revoked map[string]*string
}

// namesOf returns the names for some grants.
func namesOf(ctx context.Context, c *apiclient.Client, grants []api.Authorization) grantNames {
	n := grantNames{
		subjects:  map[string]string{vocab.SubjectUser + " " + api.DerivedID(c.AccountID, "user:owner"): "built-in owner"},
		resources: map[string]string{}, revoked: map[string]*string{},
	}
	types := map[string]bool{}
	for _, g := range grants {
		types[g.SubjectType] = true
		if g.ResourceType != nil {
			types[*g.ResourceType] = true
		}
	}
	if types[vocab.SubjectServiceAccount] {
		eachSeen(ctx, c, api.ListServiceAccounts, &api.ListRequest{}, func(a api.ServiceAccount) {
			n.subjects[vocab.SubjectServiceAccount+" "+a.ID] = a.Name
			if a.RevokedAt != nil {
				n.revoked[a.ID] = a.RevokedAt
			}
		})
	}
	if types[vocab.ResourceDomain] {
		eachSeen(ctx, c, api.ListDomains, &api.ListDomainsRequest{}, func(d api.Domain) { n.resources[d.ID] = d.Name })
	}
	if types[vocab.ResourceWorkspace] {
		eachSeen(ctx, c, api.ListWorkspaces, &api.ListRequest{}, func(w api.Workspace) { n.resources[w.ID] = w.Name })
	}
	return n
}

// eachSeen calls note for each object of a list that the caller may see.
func eachSeen[Req, Item any](ctx context.Context, c *apiclient.Client, op api.Operation[Req, api.Page[Item]], in *Req, note func(Item)) {
	for item, err := range apiclient.All(ctx, c, op, in) {
		if err != nil {
			return
		}
		note(item)
	}
}

// subject describes who holds a grant.
func (n grantNames) subject(g api.Authorization) string {
	return g.SubjectType + " " + withName(n.subjects[g.SubjectType+" "+g.SubjectID], g.SubjectID)
}

// scope describes what a grant is restricted to.
func (n grantNames) scope(g api.Authorization) string {
	if g.ResourceType == nil || g.ResourceID == nil {
		return "account"
	}
	return *g.ResourceType + " " + withName(n.resources[*g.ResourceID], *g.ResourceID)
}

// revokedAt returns when a grant, or the service account that holds it, was revoked.
func (n grantNames) revokedAt(g api.Authorization) *string {
	if g.RevokedAt == nil && g.SubjectType == vocab.SubjectServiceAccount {
		return n.revoked[g.SubjectID]
	}
	return g.RevokedAt
}

func withName(name, id string) string {
	if name == "" {
		return id
	}
	return name + " (" + id + ")"
}

// creatorsOf maps service account ids to their creators, from the audit log. Ids whose creation
// the caller may not see are missing.
func creatorsOf(ctx context.Context, c *apiclient.Client, ids []string) map[string]api.AuditSubject {
	const pageSize = 100
	creators := map[string]api.AuditSubject{}
	missing := map[string]bool{}
	for _, id := range ids {
		missing[id] = true
	}
	for _, operation := range []audit.Operation{audit.Operation(api.CreateServiceAccount.ID), audit.InitAccount, audit.IssueOwnerToken} {
		in := &api.ListAuditLogRequest{Operation: string(operation), Limit: pageSize}
		for more := true; more && len(missing) > 0; {
			page, err := apiclient.Call(ctx, c, api.ListAuditLog, in)
			if err != nil {
				return creators // no token depends on it
			}
			for _, e := range *page {
				for _, change := range e.Changes {
					if missing[change.ID] {
						creators[change.ID] = e.Subject
						delete(missing, change.ID)
					}
				}
				in.Until = e.CreatedAt
			}
			more = len(*page) == pageSize
		}
	}
	return creators
}
