package apiclient

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// IsPlanOnly reports whether a subject's grants permit exactly the reads of a plan.
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

// PlanOnly describes the rights of a subject that may only plan.
const PlanOnly = "plan only"

// RightOf returns the capability of a grant, or its kind.
func RightOf(g api.Authorization) string { return cmp.Or(api.Value(g.CapabilityKey), g.GrantKind) }

// ListRights describes the rights that grants give: one line for the whole account, and one for each
// domain and workspace, described by scope.
func ListRights(grants []api.Authorization, scope func(api.Authorization) string) (lines []string) {
	if len(grants) == 0 {
		return []string{"none"}
	}
	var everywhere []api.Authorization
	rights := map[string][]string{} // by scope
	for _, g := range grants {
		in := ""
		switch {
		case g.CapabilityKey == nil:
			return []string{strings.ReplaceAll(strings.TrimPrefix(g.GrantKind, "account_"), "_", " ")}
		case g.ResourceID == nil:
			everywhere = append(everywhere, g)
		default:
			in = " in " + scope(g)
		}
		rights[in] = append(rights[in], *g.CapabilityKey)
	}
	if IsPlanOnly(everywhere) {
		rights[""] = []string{PlanOnly}
	}
	for _, in := range slices.Sorted(maps.Keys(rights)) {
		lines = append(lines, strings.Join(slices.Compact(slices.Sorted(slices.Values(rights[in]))), ", ")+in)
	}
	return lines
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
	// Folded is the number of grants in the row, or 0 for a single grant.
	Folded int
}

// FoldGrants returns the rows for grants. Unless fold is set, each row contains one grant.
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
