package console

import (
	"cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// names are the names of what grants and rules have only ids of, in the words of pages.
type names struct{ *apiclient.Names }

// Subject returns the name of who holds a grant, or the id.
func (n names) Subject(typ, id string) string { return cmp.Or(n.Names.Subject(typ, id), id) }

// Workspace returns the name of a workspace, or the start of its id if the visitor may not
// see it.
func (n names) Workspace(id string) string {
	return cmp.Or(n.Resource(vocab.ResourceWorkspace, id), abbreviated(id))
}

// Scope returns what a rule or a grant covers.
func (n names) Scope(typ, id string) string {
	switch typ {
	case vocab.ScopeDomain:
		return cmp.Or(n.Resource(vocab.ResourceDomain, id), abbreviated(id))
	case vocab.ScopeWorkspace:
		return "Workspace " + n.Workspace(id)
	}
	return "Whole account"
}

func abbreviated(id string) string { return id[:min(len(id), 8)] + "…" }
