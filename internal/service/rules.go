package service

import (
	"context"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// EndRules adds to the loss of mailboxes the forwarding rules to their addresses, except rules that an
// earlier plan of the walk destroys. target names the addresses, as in "it".
func (ch Change[M]) EndRules(ctx context.Context, l *Loss, target string, addresses ...string) {
	byTarget, ok := ch.rulesByTarget(ctx)
	if !ok {
		l.Consequence = report.Paragraphs(l.Consequence, "Forwarding rules to "+target+" stop forwarding.")
		return
	}
	var lines []string
	for _, a := range addresses {
		canonical, _ := customtype.EmailAddress.Normalize(a)
		for _, f := range byTarget[canonical] {
			if rule := (session.Object{Type: "mailhost_forwarding", ID: f.ID}); !ch.Walk().IsDestroyed(rule) {
				lines = append(lines, "rule to "+f.TargetEmail+" of "+ch.scopeOf(ctx, f))
			}
		}
	}
	if len(lines) > 0 {
		slices.Sort(lines)
		l.Of = append(l.Of, Reach)
		l.Consequence = report.Paragraphs(l.Consequence, "Forwarding rules to "+target+" stop forwarding, unless this plan changes their target:"+report.Bullets(lines))
	}
}

// rulesByTarget returns the forwarding rules of the account by target, from one list in a walk. ok is
// false if they can't be listed.
func (c *connection) rulesByTarget(ctx context.Context) (rules map[string][]api.Forwarding, ok bool) {
	account := c.ClientIfOpen(ctx)
	if account == nil {
		return nil, false
	}
	type noteKey struct{}
	rules = Once(c.Notes(), noteKey{}, func() map[string][]api.Forwarding {
		ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
		defer cancel()
		all := map[string][]api.Forwarding{}
		for f, err := range account.ListForwarding(ctx, api.ListForwardingRequest{}) {
			if err != nil {
				return nil
			}
			if target, err := customtype.EmailAddress.Normalize(f.TargetEmail); err == nil {
				all[target] = append(all[target], f)
			}
		}
		return all
	})
	return rules, rules != nil
}

// scopeOf describes the scope of a rule, as in "the domain example.org".
func (c *connection) scopeOf(ctx context.Context, f api.Forwarding) string {
	switch f.ScopeType {
	case vocab.ScopeDomain:
		name := f.ScopeID
		if account := c.ClientIfOpen(ctx); account != nil {
			name = domainName(c.ForPlan(ctx), account.Domains.Get, f.ScopeID)
		}
		return "the " + client.Scope{Domain: name}.String()
	case vocab.ScopeWorkspace:
		return "the " + client.Scope{WorkspaceID: f.ScopeID}.String()
	}
	return client.Scope{}.String()
}
