package modeltest

import (
	"fmt"
	"net/url"
	"strconv"
)

// readAuditLog reads the newest entries. What an entry has is checked where the operations
// are; here it is the order, the number and who may see them.
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
