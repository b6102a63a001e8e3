package client

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// notNeeded are the operations that the client does not implement, because the provider
// does not need them.
var notNeeded = map[string]bool{
	api.CreateWorkspace.ID:     true,
	api.ListAuditLog.ID:        true,
	api.GetWorkspace.ID:        true,
	api.GrantAuthorization.ID:  true,
	api.RevokeAuthorization.ID: true,
}

func TestEveryOperationHasACall(t *testing.T) {
	f := fakeapi.New()
	c := newClient(t, f)
	calls(t, c)
	sent := map[string]bool{}
	for _, r := range f.Requests {
		sent[r.Op] = true
	}
	for _, s := range api.Specs() {
		if sent[s.ID] == notNeeded[s.ID] {
			t.Errorf("%s must be sent by calls() below, or be in notNeeded", s.ID)
		}
	}
}

// calls calls every method that sends a request.
func calls(t *testing.T, c *Client) {
	ctx := t.Context()
	for _, create := range creators {
		_, _ = create.do(ctx, c)
	}
	for _, create := range secretCreators {
		_, _, _ = create.do(ctx, c)
	}
	for _, l := range lifecycles {
		_, _ = l.doGet(ctx, c, "1")
		_ = l.doDelete(ctx, c, "1")
	}
	_ = c.CreateMailboxes(ctx, "b.example", bulk("x"))
	_, _ = c.UpdateMailbox(ctx, "m", api.UpdateMailboxBody{})
	_, _ = c.ExportMailboxes(ctx, api.ExportMailboxesBody{})
	_, _ = c.UpdateDomain(ctx, "d", api.UpdateDomainBody{})
	_, _ = c.UpdateDNSRecord(ctx, 1, api.UpdateDNSRecordBody{})
	_, _ = c.UpdateForwarding(ctx, "f", api.UpdateForwardingBody{})
	_, _ = c.SetForwardingActive(ctx, "f", true)
	_, _ = c.RenameMasterPassword(ctx, "p", "n")
	_, _ = c.CancelPlan(ctx, api.CancelPlanBody{})
	_, _ = c.ChangePlan(ctx, api.ChangePlanBody{})
	_, _ = c.SubmitFeedback(ctx, api.SubmitFeedbackBody{})
	_, _ = c.GetAccount(ctx)
	_, _ = c.Caller(ctx)
	for range c.ListWorkspaces(ctx) { //nolint:errcheck // only the request matters
	}
	_, _ = c.DomainAvailability(ctx, "n")
	_, _ = c.FindMailbox(ctx, "a@b.example")
	_, _ = c.FindForwarding(ctx, "a@b.example", Scope{})
	_, _ = c.FindMasterPassword(ctx, "n", Scope{})
	_, _ = c.FindServiceAccount(ctx, "n")
	_, _ = c.FindDNSRecords(ctx, "b.example", "A", "@", "")
	for range c.ListDedicatedIPOptions(ctx) { //nolint:errcheck // only the request matters
	}
	for range c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{}) { //nolint:errcheck // only the request matters
	}
}
