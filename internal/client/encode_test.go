package client

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestEncode(t *testing.T) {
	account := api.InAccount{AccountID: "acc"}
	name := "Jane"
	for _, tc := range []struct {
		name             string
		spec             api.Spec
		req              any
		url, body, obj   string
		key, contentType string
	}{
		{"path", api.GetMailbox.Spec, &api.MailboxRequest{InAccount: account, Mailbox: "jane@example.com"},
			"/v1/public/accounts/acc/mailboxes/jane@example.com", "", "jane@example.com", "", ""},
		{"path escaped", api.GetDomain.Spec, &api.DomainRequest{InAccount: account, Domain: "a/b?c#d e%2f"},
			"/v1/public/accounts/acc/domains/a%2Fb%3Fc%23d%20e%252f", "", "a/b?c#d e%2f", "", ""},
		{"path integer", api.GetDNSRecord.Spec, &api.DNSRecordRequest{InAccount: account, DNSRecordID: 42},
			"/v1/public/accounts/acc/dns-records/42", "", "42", "", ""},
		{"query, zero values left out", api.ListMailboxes.Spec, &api.ListMailboxesRequest{InAccount: account, Paged: api.Paged{Page: 2}, Search: "a&b"},
			"/v1/public/accounts/acc/mailboxes?page=2&search=a%26b", "", "acc", "", ""},
		{"the account itself", api.GetAccount.Spec, &api.GetAccountRequest{InAccount: account},
			"/v1/public/accounts/acc", "", "acc", "", ""},
		{"body and key", api.CreateMailbox.Spec, &api.CreateMailboxRequest{InAccount: account, Keyed: api.Keyed{IdempotencyKey: "k"}, Body: api.CreateMailboxBody{Domain: "d", FirstName: name}},
			"/v1/public/accounts/acc/mailboxes", `{"domain":"d","first_name":"Jane","last_name":"","local_part":""}`, "acc", "k", "application/json"},
		{"body of a change", api.UpdateMailbox.Spec, &api.UpdateMailboxRequest{InAccount: account, Mailbox: "m", Body: api.UpdateMailboxBody{LastName: &name}},
			"/v1/public/accounts/acc/mailboxes/m", `{"last_name":"Jane"}`, "m", "", "application/json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := encode("https://h", tc.spec, tc.req)
			if err != nil {
				t.Fatal(err)
			}
			if e.url != "https://h"+tc.url || string(e.body) != tc.body || e.object != tc.obj ||
				e.header.Get("Idempotency-Key") != tc.key || e.header.Get("Content-Type") != tc.contentType {
				t.Errorf("%+v, body %s", e, e.body)
			}
		})
	}
}

// Every operation of the contract can be encoded: no kind of parameter and no
// {name} of a path is left over.
func TestEveryOperationHasACall(t *testing.T) {
	f := newFakeAPI()
	c := f.client(t)
	calls(t, c)
	sent := map[string]bool{}
	for _, r := range f.requests {
		sent[r.op] = true
	}
	for _, s := range api.Specs() {
		if !sent[s.ID] {
			t.Errorf("%s is not sent by calls() below: it has no method, or one that is missing there or sends another operation", s.ID)
		}
	}
	for _, r := range f.requests {
		if strings.Contains(r.body, "AccountID") {
			t.Errorf("%s sends %s", r.op, r.body)
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
		_, _, _, _ = create.do(ctx, c)
	}
	for _, l := range lifecycles {
		if l.doGet != nil {
			_, _ = l.doGet(ctx, c, "1")
		}
		_ = l.doDelete(ctx, c, "1")
	}
	_, _ = c.CreateMailboxes(ctx, bulk("x"))
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
	_, _ = c.GetWorkspace(ctx, "w")
	_, _ = c.DomainAvailability(ctx, "n")
	_, _ = c.FindMailbox(ctx, "a@b.example")
	_, _ = c.FindForwarding(ctx, "a@b.example", Scope{})
	_, _ = c.FindMasterPassword(ctx, "n", Scope{})
	_, _ = c.FindServiceAccount(ctx, "n")
	_, _ = c.FindDNSRecords(ctx, "b.example", "A", "@", "")
	for range c.ListDedicatedIPOptions(ctx) { //nolint:errcheck // only the request counts
	}
	for range c.ListAuthorizations(ctx, api.ListAuthorizationsRequest{}) { //nolint:errcheck // only the request counts
	}
}
