package account

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
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
		creation := api.Creation{ObjectType: typ, ObjectID: id}
		if by != (store.AuditSubject{}) {
			creation.CreatedBy = new(auditSubject(by))
		}
		list = append(list, creation)
	}
	for _, a := range accounts {
		ended[a.ID] = auth.CheckServiceAccount(a, c.Arrival) != nil
		add(a.Identity().Type, a.ID, a.CreatedBy, !ended[a.ID])
	}
	for _, g := range grants {
		if !filtered || !selected(g.SubjectID) {
			add(g.Identity().Type, g.ID, g.CreatedBy, g.RevokedAt.IsZero() && !ended[g.SubjectID])
		}
	}
	return &list, nil
}

// descendants returns the ids of the service accounts and grants that descend from the subjects that
// isRoot selects. An object descends if its creator is such a subject or a service account that
// descends, or could not have created it without grants that descend. The order of grants tells what a
// creator had, because clocks may have been wrong; a service account is as old as its first grant.
func descendants(isRoot func(store.Subject) bool, accounts []store.ServiceAccount, grants []store.Authorization) map[string]bool {
	descends, received := map[string]bool{}, map[store.Subject][]store.Authorization{}
	var ofGroups []store.Authorization
	// made reports whether a creator has made an object that needs some rights, or all that the
	// creator has.
	made := func(by store.AuditSubject, needs ...store.Authorization) bool {
		s := store.Subject{Type: by.Type, ID: by.ID}
		if isRoot(s) || s.Type == vocab.SubjectServiceAccount && descends[s.ID] {
			return true
		}
		held := received[s]
		if held == nil && s.Type == vocab.SubjectUser { // the user acted as a member of groups
			held = ofGroups
		}
		var own auth.Caller
		var borrowed []store.Authorization
		for _, g := range held {
			if descends[g.ID] {
				borrowed = append(borrowed, g)
			} else {
				own.Grants = append(own.Grants, g)
			}
		}
		if needs == nil {
			needs = borrowed
		}
		return borrowed != nil && slices.ContainsFunc(needs, func(g store.Authorization) bool { return !own.MayGrant(g) })
	}
	younger := map[string]store.ServiceAccount{} // than the grants so far
	for _, a := range accounts {
		younger[a.ID] = a
	}
	creators := map[string]store.AuditSubject{}
	for _, g := range grants {
		if a, ok := younger[g.SubjectID]; ok {
			descends[a.ID], creators[a.ID] = made(a.CreatedBy), a.CreatedBy
			delete(younger, a.ID)
		}
		needs := []store.Authorization{g}
		if creators[g.SubjectID] != g.CreatedBy { // otherwise it may be inherited, which takes no right
			needs = append(needs, store.Authorization{GrantKind: vocab.GrantCapability, CapabilityKey: string(vocab.CapAuthorizationManage)})
		}
		descends[g.ID] = made(g.CreatedBy, needs...)
		s := store.Subject{Type: g.SubjectType, ID: g.SubjectID}
		if received[s] = append(received[s], g); s.Type == vocab.SubjectGroup {
			ofGroups = append(ofGroups, g)
		}
	}
	for _, a := range younger {
		descends[a.ID] = made(a.CreatedBy)
	}
	return descends
}
