package account

import (
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func listCreations(c *Call, r store.Reader, in *api.ListCreationsRequest) (*[]api.Creation, error) {
	accounts, _, err := r.ServiceAccounts(c.Caller.AccountID, store.All)
	if err != nil {
		return nil, err
	}
	grants, err := r.Authorizations(c.Caller.AccountID, store.AuthorizationFilter{IncludeRevoked: true})
	if err != nil {
		return nil, err
	}
	selected := func(string) bool { return true }
	filtered := in.SubjectType+in.SubjectID != ""
	if filtered {
		descends := descendants(func(s store.Subject) bool {
			return (in.SubjectType == "" || s.Type == in.SubjectType) && (in.SubjectID == "" || s.ID == in.SubjectID)
		}, accounts, grants)
		selected = func(id string) bool { return descends[id] }
	}
	ended := map[string]bool{} // by service account
	list := []api.Creation{}
	add := func(typ, id string, by store.AuditSubject, works bool) {
		if !selected(id) || !works && !in.IncludeRevoked {
			return
		}
		created := api.Creation{ObjectType: typ, ObjectID: id}
		if by != (store.AuditSubject{}) {
			created.CreatedBy = new(auditSubject(by))
		}
		list = append(list, created)
	}
	for _, a := range accounts {
		ended[a.ID] = auth.CheckServiceAccount(a, c.Arrival) != nil
		add(a.Identity().Type, a.ID, a.CreatedBy, !ended[a.ID])
	}
	for _, g := range grants {
		token := g.SubjectType == vocab.SubjectServiceAccount
		if !filtered || !token || !selected(g.SubjectID) {
			add(g.Identity().Type, g.ID, g.CreatedBy, g.RevokedAt.IsZero() && !(token && ended[g.SubjectID]))
		}
	}
	return &list, nil
}

// creation is a service account or a grant, and what its creator needed for it.
type creation struct {
	id    string
	by    store.Subject
	at    time.Time
	needs []store.Authorization
}

// inheritance is the greatest time between the first grant that a service account inherited and the last.
const inheritance = time.Second

// descendants returns the ids of the service accounts and grants that descend from the subjects that
// isRoot selects. An object descends if its creator is such a subject or a service account that
// descends, or had a right that it needs only from grants that descend. Who is a member of a group is
// unknown: a person counts as a member of every group.
func descendants(isRoot func(store.Subject) bool, accounts []store.ServiceAccount, grants []store.Authorization) map[string]bool {
	type right struct {
		holder     store.Subject // without an id for all groups
		capability string        // empty for owners
	}
	received := map[right][]store.Authorization{}
	objects := creations(accounts, grants)
	for _, g := range grants {
		holder := store.Subject{Type: g.SubjectType, ID: g.SubjectID}
		if holder.Type == vocab.SubjectGroup {
			holder.ID = ""
		}
		r := right{holder, g.CapabilityKey}
		received[r] = append(received[r], g)
	}
	descends := map[string]bool{}
	// borrowed reports whether a creator had a right only from grants that descend. The times of these do not
	// matter, because clocks may have been wrong.
	borrowed := func(o creation, need store.Authorization) (borrowed bool) {
		holders := []store.Subject{o.by}
		if o.by.Type == vocab.SubjectUser && !strings.HasPrefix(o.by.ID, identity.WorkloadPrefix) {
			holders = append(holders, store.Subject{Type: vocab.SubjectGroup})
		}
		for _, holder := range holders {
			for _, capability := range []string{"", need.CapabilityKey} {
				held := received[right{holder, capability}]
				for i := range held {
					g := &held[i]
					switch {
					case !(auth.Caller{Grants: held[i : i+1]}).MayGrant(need):
					case descends[g.ID]:
						borrowed = true
					case g.CreatedAt.Before(o.at) && (g.RevokedAt.IsZero() || !g.RevokedAt.Before(o.at)):
						return false
					}
				}
			}
		}
		return borrowed
	}
	for found := true; found; { // what is found may take rights from the creators of further objects
		found = false
		for _, o := range objects {
			if !descends[o.id] && (isRoot(o.by) || o.by.Type == vocab.SubjectServiceAccount && descends[o.by.ID] ||
				slices.ContainsFunc(o.needs, func(need store.Authorization) bool { return borrowed(o, need) })) {
				descends[o.id], found = true, true
			}
		}
	}
	return descends
}

// creations returns service accounts and grants, the oldest first. A service account is as old as its first
// grant.
func creations(accounts []store.ServiceAccount, grants []store.Authorization) []creation {
	needed := func(c vocab.Capability) store.Authorization {
		return store.Authorization{GrantKind: vocab.GrantCapability, CapabilityKey: string(c)}
	}
	creator := func(by store.AuditSubject) store.Subject { return store.Subject{Type: by.Type, ID: by.ID} }
	objects := make([]creation, 0, len(accounts)+len(grants))
	index := map[string]int{} // of service accounts
	for _, a := range accounts {
		index[a.ID] = len(objects)
		objects = append(objects, creation{a.ID, creator(a.CreatedBy), a.CreatedAt, []store.Authorization{needed(vocab.CapServiceAccountCreate)}})
	}
	for _, g := range grants {
		o := creation{g.ID, creator(g.CreatedBy), g.CreatedAt, []store.Authorization{g}}
		i, ok := index[g.SubjectID]
		ok = ok && g.SubjectType == vocab.SubjectServiceAccount && objects[i].by == o.by
		if ok && len(objects[i].needs) == 1 { // the first grant
			objects[i].at = g.CreatedAt
		}
		if ok && g.CreatedAt.Sub(objects[i].at) <= inheritance {
			objects[i].needs = append(objects[i].needs, g)
		} else {
			o.needs = append(o.needs, needed(vocab.CapAuthorizationManage))
		}
		objects = append(objects, o)
	}
	slices.SortStableFunc(objects, func(a, b creation) int { return a.at.Compare(b.at) })
	return objects
}
