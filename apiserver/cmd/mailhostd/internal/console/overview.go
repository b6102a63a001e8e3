package console

import (
	"errors"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// count is the size of a list, with a link to it.
type count struct {
	Path, Text string
	part[int]
}

// attention is something that waits for a person.
type attention struct{ Path, Text string }

// soon is how long before its expiry a token is on the overview.
const soon = 14 * 24 * time.Hour

type overviewPage struct {
	Account   part[*api.Account]
	Caller    part[*api.Caller]
	PlanOnly  bool
	Rights    []string // of the caller
	Counts    []count
	Attention []attention
	Recent    part[*[]api.AuditEntry]
}

// overview shows what the account has, and what needs attention.
func overview(v *visit) (view, error) {
	var p overviewPage
	var err error
	if p.Account, err = partOf(call(v, api.GetAccount, &api.GetAccountRequest{})); err != nil {
		return view{}, err
	}
	if p.Caller, err = partOf(call(v, api.GetCaller, &api.GetCallerRequest{})); err != nil {
		return view{}, err
	}
	one := api.Paged{Page: 1, PageSize: 1}
	var ended error
	p.add(&ended, "/domains", "Domains", totalOf(call(v, api.ListDomains, &api.ListDomainsRequest{Paged: one})))
	p.add(&ended, "/mailboxes", "Mailboxes", totalOf(call(v, api.ListMailboxes, &api.ListMailboxesRequest{Paged: one})))
	p.add(&ended, "/forwarding", "Forwarding rules", totalOf(call(v, api.ListForwarding, &api.ListForwardingRequest{Paged: one})))
	p.add(&ended, "/dedicated-ips", "Dedicated IPs", totalOf(call(v, api.ListDedicatedIPs, &api.ListDedicatedIPsRequest{Paged: one})))
	tokens, tokensErr := call(v, api.ListServiceAccounts, &api.ListRequest{Paged: api.Paged{Page: 1, PageSize: api.MaxPageSize}})
	p.add(&ended, "/tokens", "Tokens", totalOf(tokens, tokensErr))
	if ended != nil {
		return view{}, ended
	}
	for _, state := range []struct{ status, text string }{
		{vocab.DomainPendingPayment, " waiting for payment"}, {vocab.DomainFailed, " failed"},
	} {
		in := &api.ListDomainsRequest{Paged: one, Status: state.status}
		p.attend(totalOf(call(v, api.ListDomains, in)), "/domains"+queryOf("status", state.status), "domain", state.text)
	}
	for _, state := range []struct{ status, text string }{
		{vocab.VerificationPending, " waiting for the recipient"}, {vocab.VerificationExpired, " whose verification has expired"},
	} {
		in := &api.ListForwardingRequest{Paged: one, VerificationState: state.status}
		p.attend(totalOf(call(v, api.ListForwarding, in)), "/forwarding"+queryOf("state", state.status), "forwarding rule", state.text)
	}
	if tokensErr == nil {
		now, expiring := v.clock(), 0
		for _, t := range tokens.Items {
			if at, ok := timeOf(t.ExpiresAt); ok && t.RevokedAt == nil && at.After(now) && at.Before(now.Add(soon)) {
				expiring++
			}
		}
		p.attend(result[int]{expiring, nil}, "/tokens", "token", " expiring within 14 days")
	}
	if p.Recent, err = partOf(call(v, api.ListAuditLog, &api.ListAuditLogRequest{Limit: 6, MaxChanges: changesRead})); err != nil {
		return view{}, err
	}
	if p.Recent.Failure == nil {
		nameGrants(v, *p.Recent.Content)
	}
	if p.Caller.Failure == nil {
		p.PlanOnly = isPlanOnly(p.Caller.Content.Grants)
		p.Rights = rightsIn(namesFor(v), p.Caller.Content.Grants)
	}
	return view{Template: "overview.html", Title: "Overview", Data: p}, nil
}

// rightsIn lists what grants permit, by what they cover.
func rightsIn(names *scopeNames, grants []api.Authorization) (lines []string) {
	var scopes []string
	rights := map[string][]string{}
	for _, g := range grants {
		row := grantRowOf(names, g)
		if rights[row.Scope] == nil {
			scopes = append(scopes, row.Scope)
		}
		right := row.Right
		if g.CapabilityKey == nil {
			right = words(right)
		}
		rights[row.Scope] = append(rights[row.Scope], right)
	}
	for _, scope := range scopes {
		lines = append(lines, scope+": "+strings.Join(rights[scope], ", "))
	}
	return lines
}

type result[T any] struct {
	value T
	err   error
}

// totalOf returns how many objects a list has.
func totalOf[T any](p *api.Page[T], err error) result[int] {
	if err != nil {
		return result[int]{0, err}
	}
	return result[int]{p.Total, nil}
}

// add adds the size of a list. It sets ended if the session has.
func (p *overviewPage) add(ended *error, path, text string, total result[int]) {
	content, err := partOf(total.value, total.err)
	*ended = errors.Join(*ended, err)
	p.Counts = append(p.Counts, count{path, text, content})
}

// attend adds a number of objects that wait for a person, if there are any.
func (p *overviewPage) attend(total result[int], path, kind, state string) {
	switch {
	case total.err != nil || total.value == 0:
		return
	case total.value > 1:
		kind += "s"
	}
	p.Attention = append(p.Attention, attention{path, number(total.value) + " " + kind + state})
}

// scopeNames returns the names of workspaces and domains, so that a page need not show
// their ids. It reads each once.
type scopeNames struct {
	*visit
	workspaces map[string]string
	domains    map[string]string
}

func namesFor(v *visit) *scopeNames { return &scopeNames{visit: v, domains: map[string]string{}} }

// Workspace returns the name of a workspace, or the start of its id if the visitor may not
// see it.
func (n *scopeNames) Workspace(id string) string {
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
func (n *scopeNames) Domain(id string) string {
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
func (n *scopeNames) Scope(typ, id string) string {
	switch typ {
	case vocab.ScopeDomain:
		return n.Domain(id)
	case vocab.ScopeWorkspace:
		return "Workspace " + n.Workspace(id)
	}
	return "Whole account"
}

func abbreviated(id string) string { return id[:min(len(id), 8)] + "…" }
