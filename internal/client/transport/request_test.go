package transport

import (
	"reflect"
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
			if e.url.String() != "https://h"+tc.url || string(e.body) != tc.body || e.object != tc.obj ||
				e.header.Get("Idempotency-Key") != tc.key || e.header.Get("Content-Type") != tc.contentType {
				t.Errorf("%+v, body %s", e, e.body)
			}
		})
	}
}

// TestEveryOperationCanBeEncoded checks that every operation of the contract can be
// encoded, with each kind of parameter and each {name} of a path.
func TestEveryOperationCanBeEncoded(t *testing.T) {
	for _, s := range api.Specs() {
		req := reflect.New(s.Request)
		for _, f := range reflect.VisibleFields(s.Request) {
			if field := req.Elem().FieldByIndex(f.Index); field.Kind() == reflect.String {
				field.SetString("x")
			} else if field.CanInt() {
				field.SetInt(1)
			}
		}
		e, err := encode("https://h", s, req.Interface())
		if err != nil || strings.ContainsAny(e.url.String(), "{}") || strings.Contains(string(e.body), "AccountID") {
			t.Errorf("%s: %+v, %v", s.ID, e, err)
		}
	}
}
