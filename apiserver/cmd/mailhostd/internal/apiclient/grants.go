package apiclient

import (
	"context"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// IsPlanOnly reports whether the grants of a subject permit what a plan reads, and no more.
func IsPlanOnly(grants []api.Authorization) bool {
	capabilities := map[vocab.Capability]bool{}
	for _, g := range grants {
		if g.CapabilityKey == nil || g.ResourceType != nil || g.RevokedAt != nil {
			return false
		}
		capabilities[vocab.Capability(*g.CapabilityKey)] = true
	}
	plan := api.PlanCapabilities()
	return len(capabilities) == len(plan) && !slices.ContainsFunc(plan, func(c vocab.Capability) bool { return !capabilities[c] })
}

// TokenGrants returns the grants of service accounts by their ids, or nil if the caller may not see
// grants.
func TokenGrants(ctx context.Context, c *Client) (map[string][]api.Authorization, error) {
	all, err := Call(ctx, c, api.ListAuthorizations, &api.ListAuthorizationsRequest{SubjectType: vocab.SubjectServiceAccount})
	if Denied(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	grants := map[string][]api.Authorization{}
	for _, g := range *all {
		grants[g.SubjectID] = append(grants[g.SubjectID], g)
	}
	return grants, nil
}

// GrantRow is a grant in a list, or all grants of a subject that may only plan.
type GrantRow struct {
	api.Authorization
	// Folded is how many grants the row stands for, if there are several.
	Folded int
}

// FoldGrants returns the rows of grants, each with one grant unless fold is set.
func FoldGrants(grants []api.Authorization, fold bool) (rows []GrantRow) {
	subject := func(g api.Authorization) string { return g.SubjectType + " " + g.SubjectID }
	working := map[string][]api.Authorization{}
	for _, g := range grants {
		if g.RevokedAt == nil {
			working[subject(g)] = append(working[subject(g)], g)
		}
	}
	for _, g := range grants {
		all := working[subject(g)]
		switch {
		case !fold || g.RevokedAt != nil || !IsPlanOnly(all):
			rows = append(rows, GrantRow{Authorization: g})
		case g.ID == all[0].ID:
			rows = append(rows, GrantRow{g, len(all)})
		}
	}
	return rows
}
