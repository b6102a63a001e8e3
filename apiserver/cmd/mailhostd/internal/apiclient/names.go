package apiclient

import (
	"context"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Names finds the names of objects that grants and rules refer to by id. A name that the caller may not
// see is missing. Each list is read when one of its names is first needed.
type Names struct {
	ctx    context.Context //nolint:containedctx // of one command, or of one page
	client *Client

	tokens                      map[string]api.ServiceAccount
	domains, workspaces, people map[string]string
}

func NewNames(ctx context.Context, c *Client) *Names { return &Names{ctx: ctx, client: c} }

// read fills a map from a list when first needed.
func read[Req, Item, V any](n *Names, known *map[string]V, op api.Operation[Req, api.Page[Item]], entry func(Item) (id string, v V)) map[string]V {
	if *known == nil {
		*known = map[string]V{}
		for item, err := range All(n.ctx, n.client, op, new(Req)) {
			if err != nil {
				break
			}
			id, v := entry(item)
			(*known)[id] = v
		}
	}
	return *known
}

// Token returns the service account with an id, if the caller may see it.
func (n *Names) Token(id string) api.ServiceAccount {
	return read(n, &n.tokens, api.ListServiceAccounts, func(a api.ServiceAccount) (string, api.ServiceAccount) { return a.ID, a })[id]
}

// person returns the name of a user from the last entries of the audit log, or "".
func (n *Names) person(id string) string {
	if n.people == nil {
		n.people = map[string]string{}
		if entries, err := Call(n.ctx, n.client, api.ListAuditLog, &api.ListAuditLogRequest{Limit: auditPage, MaxChanges: 1}); err == nil {
			for _, e := range *entries {
				if e.Subject.Type == vocab.SubjectUser && e.Subject.ID != nil && e.Subject.Name != nil && n.people[*e.Subject.ID] == "" {
					n.people[*e.Subject.ID] = *e.Subject.Name
				}
			}
		}
		n.people[api.DerivedID(n.client.AccountID, "user:owner")] = "Built-in owner"
	}
	return n.people[id]
}

// auditPage is the largest number of audit log entries in one response.
const auditPage = 100

// Subject returns the name of a grant's subject, or "".
func (n *Names) Subject(typ, id string) string {
	switch typ {
	case vocab.SubjectUser:
		return n.person(id)
	case vocab.SubjectServiceAccount:
		return n.Token(id).Name
	}
	return ""
}

// DescribeSubject describes who holds a grant or has made a change: the kind, the id, and the name in quotes. A
// person or a pipeline may choose its name, which must not pass for another subject's kind or id.
func DescribeSubject(kind, id, name string) string {
	text := kind
	if id != "" {
		text += " " + QuoteID(id)
	}
	if name != "" {
		text += " " + strconv.Quote(name)
	}
	return text
}

// QuoteID quotes an id that could pass for an id with a name, such as that of a group with a space.
func QuoteID(id string) string {
	if strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' }) {
		return strconv.Quote(id)
	}
	return id
}

// DescribeAuthor describes the author of a change.
func DescribeAuthor(s api.AuditSubject) string {
	return DescribeSubject(s.Type, api.Value(s.ID), api.Value(s.Name))
}

// Resource returns the name of a domain or a workspace, or "".
func (n *Names) Resource(typ, id string) string {
	switch typ {
	case vocab.ResourceDomain:
		return read(n, &n.domains, api.ListDomains, func(d api.Domain) (string, string) { return d.ID, d.Name })[id]
	case vocab.ResourceWorkspace:
		return read(n, &n.workspaces, api.ListWorkspaces, func(w api.Workspace) (string, string) { return w.ID, w.Name })[id]
	}
	return ""
}

// RevokedAt returns the time at which a grant or its service account was revoked. The grants of a
// revoked service account remain, without effect.
func (n *Names) RevokedAt(g api.Authorization) *string {
	if g.RevokedAt == nil && g.SubjectType == vocab.SubjectServiceAccount {
		return n.Token(g.SubjectID).RevokedAt
	}
	return g.RevokedAt
}
