package modeltest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
)

// right is a capability in the whole account, a workspace or a domain.
type right struct {
	capability string
	workspace  *workspace
	domain     *domain
}

// authority contains the rights of every active service account, and the objects to which they apply.
type authority struct {
	rights     map[*serviceAccount]map[right]bool
	workspaces []*workspace
	domains    []*domain
}

func (m *machine) authority() authority {
	all := authority{map[*serviceAccount]map[right]bool{}, slices.Clone(m.workspaces), slices.Clone(m.domains)}
	for _, a := range m.serviceAccounts {
		if a.refusal(m.now()) != "" {
			continue
		}
		has := map[right]bool{}
		for _, capability := range slices.Concat(whole, narrowable) {
			r := m.reach(a.caller(), capability)
			if r.all {
				has[right{capability: capability}] = true
			}
			for _, w := range m.workspaces {
				if r.workspace(w) {
					has[right{capability: capability, workspace: w}] = true
				}
			}
			for _, d := range m.domains {
				if r.domain(d) {
					has[right{capability: capability, domain: d}] = true
				}
			}
		}
		all.rights[a] = has
	}
	return all
}

// concerns reports whether the workspace or the domain of a right existed.
func (a authority) concerns(r right) bool {
	return (r.workspace == nil || slices.Contains(a.workspaces, r.workspace)) && (r.domain == nil || slices.Contains(a.domains, r.domain))
}

// checkAuthority checks that a service account's request neither gives nor takes away a right that its caller
// lacked, and gives none for longer. The rights of others in a workspace change with the domains moved into and
// out of it.
func (m *machine) checkAuthority(who *caller, o operation, before authority) {
	own := before.rights[who.account]
	if own == nil || o.method == "GET" {
		return
	}
	after, isMove := m.authority(), o.capability == "domain.update"
	for a, has := range after.rights {
		isOther := a != who.account
		limit := m.expiryOf(who)
		lives := !limit.IsZero() && (a.expiresAt.IsZero() || a.expiresAt.After(limit))
		for r := range has {
			switch {
			case before.rights[a][r], !before.concerns(r), isMove && isOther:
			case !own[r]:
				m.fail("the request gives the service account %d the right %s, which its caller does not have", a.number, r.capability)
			case isOther && lives:
				m.fail("the request gives the service account %d the right %s for longer than its caller has it", a.number, r.capability)
			}
		}
	}
	for a, had := range before.rights {
		for r := range had {
			if !after.rights[a][r] && after.concerns(r) && a != who.account && !isMove && !own[r] {
				m.fail("the request takes the right %s from the service account %d, which its caller does not have", r.capability, a.number)
			}
		}
	}
}

// readAuditLog reads the newest entries. It checks the order, the number and the visibility of entries;
// the operations check their content.
func (m *machine) readAuditLog() {
	limit := draw(m, "limit", 1, 2, 25, 100)
	m.do(m.caller(), operation{
		method: "GET", path: "/audit-log", query: url.Values{"limit": {strconv.Itoa(limit)}}, capability: "audit_log.view", reads: true,
		then: func(*caller) want {
			return want{status: 200, check: func(a *response) (found []string) {
				entries, _ := a.json.([]any)
				if len(entries) == 0 || len(entries) > limit {
					found = append(found, fmt.Sprintf("%d entries with a limit of %d", len(entries), limit))
				}
				later := ""
				for _, e := range entries {
					at, _ := e.(obj)["created_at"].(string)
					if at == "" || later != "" && at >= later {
						found = append(found, fmt.Sprintf("an entry of %q follows one of %q", at, later))
					}
					later = at
				}
				return found
			}}
		},
	})
}
