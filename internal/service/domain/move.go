package domain

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// moveLosses returns the loss of a move to another workspace: its master passwords open the domain's mailboxes
// after that, and its forwarding rules get the domain's mail. Those of the earlier workspace no longer do.
func moveLosses(ctx context.Context, ch service.Change[model]) []service.Loss {
	from, to := ch.Before.WorkspaceID, ch.After.WorkspaceID
	account := ch.ClientIfOpen(ctx)
	if account == nil || from.IsNull() || to.IsNull() || to.IsUnknown() || api.CanonicalID(from.ValueString()) == api.CanonicalID(to.ValueString()) {
		return nil
	}
	gained, gainedErr := coverage(ctx, account, to.ValueString())
	lost, lostErr := coverage(ctx, account, from.ValueString())
	l := service.Loss{Of: []service.Asset{service.Access, service.Reach}, Does: "moves the " + ch.After.String() + " to another workspace", At: path.Root("workspace_id")}
	for _, s := range gained {
		l.Items = append(l.Items, "from the apply on: "+s)
	}
	for _, s := range lost {
		l.Items = append(l.Items, "no longer: "+s)
	}
	switch {
	case gainedErr != nil || lostErr != nil:
		l.Because = "This credential can't list the master passwords and forwarding rules of both workspaces. Those of the new one apply to the domain's mailboxes and mail after the apply, and those of the earlier one no longer do."
	case len(l.Items) == 0:
		return nil
	}
	if len(l.Items) > 0 {
		l.Lists = "The master passwords of a workspace open the mailboxes of its domains, and its forwarding rules get their mail:"
	}
	l.Keep = "To keep the domain where it is, set workspace_id to " + from.ValueString() + " or remove workspace_id."
	return []service.Loss{l}
}

// coverage lists the master passwords and forwarding rules of a workspace. After an error, the list may be
// incomplete.
func coverage(ctx context.Context, account *client.Client, workspaceID string) (names []string, err error) {
	passwords := account.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{WorkspaceID: workspaceID, ScopeType: vocab.ScopeWorkspace})
	rules := account.ListForwarding(ctx, api.ListForwardingRequest{WorkspaceID: workspaceID, ScopeType: vocab.ScopeWorkspace})
	opened, err := namesIn(passwords, func(p api.MasterPassword) (string, string, string) {
		return p.ScopeType, p.ScopeID, fmt.Sprintf("the master password %q", p.Name)
	}, workspaceID)
	if err != nil {
		return opened, err
	}
	forwarded, err := namesIn(rules, func(f api.Forwarding) (string, string, string) {
		return f.ScopeType, f.ScopeID, "the forwarding rule to " + f.TargetEmail
	}, workspaceID)
	return slices.Concat(opened, forwarded), err
}

// namesIn returns the names of the objects whose scope is a workspace, also from an API that ignores filters.
func namesIn[T any](all iter.Seq2[T, error], describe func(T) (scopeType, scopeID, name string), workspaceID string) (names []string, err error) {
	for v, err := range all {
		if err != nil {
			return names, err
		}
		if scopeType, scopeID, name := describe(v); scopeType == vocab.ScopeWorkspace && api.CanonicalID(scopeID) == api.CanonicalID(workspaceID) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}
