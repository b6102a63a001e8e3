package console

import (
	"cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// names returns the names of what grants and rules have only ids of, as far as the visitor may
// see them. It reads each once.
type names struct {
	*visit
	workspaces, domains map[string]string
	// tokens are the service accounts, and users the people whom the audit log names, by id. A
	// user or a group may have the same id as a service account.
	tokens map[string]api.ServiceAccount
	users  map[string]string
}

func namesFor(v *visit) *names { return &names{visit: v, domains: map[string]string{}} }

// auditEntriesForNames is how many entries of the audit log are searched for names of
// people: the most that one request returns.
const auditEntriesForNames = 100

// readSubjects reads the service accounts and the people, unless it has.
func (n *names) readSubjects() {
	if n.tokens != nil {
		return
	}
	n.tokens, n.users = map[string]api.ServiceAccount{}, map[string]string{}
	if entries, err := call(n.visit, api.ListAuditLog, &api.ListAuditLogRequest{Limit: auditEntriesForNames, MaxChanges: 1}); err == nil {
		for _, e := range *entries {
			if e.Subject.Type == vocab.SubjectUser && e.Subject.ID != nil && n.users[*e.Subject.ID] == "" {
				n.users[*e.Subject.ID] = value(e.Subject.Name)
			}
		}
	}
	for a, err := range apiclient.All(n.Context(), n.api, api.ListServiceAccounts, &api.ListRequest{}) {
		if err != nil {
			break
		}
		n.tokens[a.ID] = a
	}
	n.users[api.DerivedID(n.session.AccountID, "user:owner")] = "Built-in owner"
}

// Subject returns the name of who holds a grant, or the id.
func (n *names) Subject(typ, id string) string {
	n.readSubjects()
	switch typ {
	case vocab.SubjectUser:
		return cmp.Or(n.users[id], id)
	case vocab.SubjectServiceAccount:
		return cmp.Or(n.tokens[id].Name, id)
	}
	return id
}

// Workspace returns the name of a workspace, or the start of its id if the visitor may not
// see it.
func (n *names) Workspace(id string) string {
	if n.workspaces == nil {
		n.workspaces = map[string]string{}
		for w, err := range apiclient.All(n.Context(), n.api, api.ListWorkspaces, &api.ListRequest{}) {
			if err != nil {
				break
			}
			n.workspaces[w.ID] = w.Name
		}
	}
	if name, ok := n.workspaces[id]; ok {
		return name
	}
	return abbreviated(id)
}

// Domain returns the name of a domain, or the start of its id if the visitor may not see
// it.
func (n *names) Domain(id string) string {
	name, known := n.domains[id]
	if !known {
		name = abbreviated(id)
		if d, err := call(n.visit, api.GetDomain, &api.DomainRequest{Domain: id}); err == nil {
			name = d.Name
		}
		n.domains[id] = name
	}
	return name
}

// Scope returns what a rule or a grant covers.
func (n *names) Scope(typ, id string) string {
	switch typ {
	case vocab.ScopeDomain:
		return n.Domain(id)
	case vocab.ScopeWorkspace:
		return "Workspace " + n.Workspace(id)
	}
	return "Whole account"
}

func abbreviated(id string) string { return id[:min(len(id), 8)] + "…" }
