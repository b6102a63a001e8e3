package console

import (
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// count is the length of a list, with a link to the list.
type count struct {
	link
	part[int]
}

// soon is the time before its expiry at which a token appears on the overview.
const soon = 14 * 24 * time.Hour

type overviewPage struct {
	Account  part[*api.Account]
	Caller   part[*api.Caller]
	PlanOnly bool
	Rights   []string // of the caller
	Counts   []count
	// Attention lists objects that require an action of a person.
	Attention []link
	Recent    part[*[]api.AuditEntry]
}

func overview(v *visit) (view, error) {
	one := api.Paged{Page: 1, PageSize: 1}
	tokens, tokensErr := call(v, api.ListServiceAccounts, &api.ListRequest{Paged: api.Paged{Page: 1, PageSize: api.MaxPageSize}})
	p := overviewPage{
		Account: partOf(call(v, api.GetAccount, &api.InAccount{})),
		Caller:  partOf(call(v, api.GetCaller, &api.InAccount{})),
		Recent:  partOf(call(v, api.ListAuditLog, &api.ListAuditLogRequest{Limit: 6, MaxChanges: changesRead})),
	}
	lists := apiclient.Lists()
	for _, s := range sections() {
		if i := slices.IndexFunc(lists, func(l api.Spec) bool { return s.Path == strings.TrimPrefix(l.Path, api.Prefix) }); i >= 0 {
			p.Counts = append(p.Counts, count{s.link, partOf(apiclient.Total(v.Context(), v.api, lists[i]))})
		}
	}
	p.Counts = append(p.Counts, count{link{"/tokens", "Tokens"}, totalOf(tokens, tokensErr)})
	domains := func(status, text string) {
		in := &api.ListDomainsRequest{Paged: one, Status: status}
		p.attend(totalOf(call(v, api.ListDomains, in)).Content, "/domains"+queryOf("status", status), "domain", text)
	}
	rules := func(state, text string) {
		in := &api.ListForwardingRequest{Paged: one, VerificationState: state}
		p.attend(totalOf(call(v, api.ListForwarding, in)).Content, "/forwarding"+queryOf("state", state), "forwarding rule", text)
	}
	domains(vocab.DomainPendingPayment, " waiting for payment")
	domains(vocab.DomainFailed, " failed")
	rules(vocab.VerificationPending, " waiting for the recipient")
	rules(vocab.VerificationExpired, " whose verification has expired")
	if tokensErr == nil {
		now, expiring := v.clock(), 0
		for _, t := range tokens.Items {
			if at, _ := timeOf(t.ExpiresAt); t.RevokedAt == nil && at.After(now) && at.Before(now.Add(soon)) {
				expiring++
			}
		}
		p.attend(expiring, "/tokens", "token", " expiring within 14 days")
	}
	if p.Recent.Failure == nil {
		nameGrants(v, *p.Recent.Content)
	}
	if p.Caller.Failure == nil {
		p.PlanOnly = apiclient.IsPlanOnly(p.Caller.Content.Grants)
		p.Rights = apiclient.ListRights(p.Caller.Content.Grants, v.names.ScopeOf)
	}
	return view{Template: "overview.html", Title: "Overview", Data: p}, nil
}

// attend adds a link to n objects that require an action, unless n is 0.
func (p *overviewPage) attend(n int, path, kind, state string) {
	if n > 0 {
		p.Attention = append(p.Attention, link{path, number(n) + " " + english.PluralWord(n, kind, "") + state})
	}
}
