package httpapi_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// operation is a line of the specification's endpoint table with what the
// decisions add to it.
type operation struct {
	number     int
	method     string
	path       string // after the prefix
	status     int
	capability string
}

// The tables are written from the documents, not from the code.
var published = []operation{
	{1, "POST", "/auth/service-accounts", 201, "service_account.create"},
	{2, "GET", "/auth/authorizations", 200, "authorization.view"},
	{3, "POST", "/credentials", 201, "credential.manage"},
	{4, "GET", "/credentials", 200, "credential.view"},
	{5, "PATCH", "/credentials/{credential_id}", 200, "credential.manage"},
	{6, "POST", "/forwarding", 201, "forwarding.manage"},
	{7, "GET", "/forwarding", 200, "forwarding.view"},
	{8, "PATCH", "/forwarding/{forwarding_id}", 200, "forwarding.manage"},
	{9, "POST", "/mailboxes", 201, "mailbox.create"},
	{10, "GET", "/mailboxes", 200, "mailbox.view"},
	{11, "PATCH", "/mailboxes/{mailbox}", 200, "mailbox.update"},
	{12, "POST", "/mailboxes/bulk", 200, "mailbox.create"},
	{13, "POST", "/mailboxes/export", 200, "mailbox.export"},
	{14, "POST", "/domains/purchase", 200, "domain.purchase"},
	{15, "GET", "/domains", 200, "domain.view"},
	{16, "PATCH", "/domains/{domain}", 200, "domain.update"},
	{17, "POST", "/dns-records", 201, "dns_record.create"},
	{18, "POST", "/dedicated-ips/claim", 201, "dedicated_ip.claim"},
	{19, "GET", "/dedicated-ips", 200, "dedicated_ip.view"},
	{20, "POST", "/billing/cancel-plan", 200, "billing.manage"},
	{21, "POST", "/billing/change-plan", 200, "billing.manage"},
	{22, "POST", "/feedback", 201, ""},
}

var lifecycle = []operation{
	{0, "GET", "", 200, "account.view"},
	{0, "GET", "/auth/service-accounts", 200, "service_account.view"},
	{0, "GET", "/auth/service-accounts/{service_account_id}", 200, "service_account.view"},
	{0, "DELETE", "/auth/service-accounts/{service_account_id}", 204, "service_account.revoke"},
	{0, "POST", "/auth/authorizations", 201, "authorization.manage"},
	{0, "DELETE", "/auth/authorizations/{authorization_id}", 204, "authorization.manage"},
	{0, "GET", "/credentials/{credential_id}", 200, "credential.view"},
	{0, "DELETE", "/credentials/{credential_id}", 204, "credential.manage"},
	{0, "GET", "/forwarding/{forwarding_id}", 200, "forwarding.view"},
	{0, "DELETE", "/forwarding/{forwarding_id}", 204, "forwarding.manage"},
	{0, "PATCH", "/forwarding/{forwarding_id}/active", 200, "forwarding.manage"},
	{0, "GET", "/mailboxes/{mailbox}", 200, "mailbox.view"},
	{0, "DELETE", "/mailboxes/{mailbox}", 204, "mailbox.delete"},
	{0, "GET", "/domains/{domain}", 200, "domain.view"},
	{0, "DELETE", "/domains/{domain}", 204, "domain.delete"},
	{0, "GET", "/domains/availability", 200, "domain.view"},
	{0, "GET", "/dns-records", 200, "dns_record.view"},
	{0, "GET", "/dns-records/{dns_record_id}", 200, "dns_record.view"},
	{0, "PATCH", "/dns-records/{dns_record_id}", 200, "dns_record.update"},
	{0, "DELETE", "/dns-records/{dns_record_id}", 204, "dns_record.delete"},
	{0, "GET", "/dedicated-ips/options", 200, "dedicated_ip.view"},
	{0, "GET", "/dedicated-ips/{dedicated_ip_id}", 200, "dedicated_ip.view"},
	{0, "DELETE", "/dedicated-ips/{dedicated_ip_id}", 204, "dedicated_ip.release"},
	{0, "GET", "/workspaces", 200, "workspace.view"},
	{0, "POST", "/workspaces", 201, "workspace.manage"},
	{0, "GET", "/workspaces/{workspace_id}", 200, "workspace.view"},
}

const prefix = "/v1/public/accounts/{account_id}"

func TestSpecs(t *testing.T) {
	got := map[string]operation{}
	ids := map[string]bool{}
	for _, s := range api.Specs() {
		path, ok := strings.CutPrefix(s.Path, prefix)
		if !ok {
			t.Errorf("%s is not under the prefix", s.Path)
		}
		if ids[s.ID] {
			t.Errorf("two operations have the id %s", s.ID)
		}
		ids[s.ID] = true
		if s.Lifecycle() != (s.Number == 0) {
			t.Errorf("%s: number %d, lifecycle %t", s.ID, s.Number, s.Lifecycle())
		}
		got[s.Method+" "+path] = operation{s.Number, s.Method, path, s.Status, string(s.Capability)}
	}
	for _, want := range append(published, lifecycle...) {
		key := want.method + " " + want.path
		if got[key] != want {
			t.Errorf("%s is %+v; want %+v", key, got[key], want)
		}
		delete(got, key)
	}
	for key := range got {
		t.Errorf("%s is in no document", key)
	}
}

func TestSpecsOrder(t *testing.T) {
	for i, s := range api.Specs() {
		if want := i + 1; i < len(published) && s.Number != want {
			t.Errorf("operation at %d has number %d; want %d", i, s.Number, want)
		}
	}
}

// Every request that creates something or moves money takes an Idempotency-Key.
func TestSpecKeyed(t *testing.T) {
	for _, s := range api.Specs() {
		want := s.Method == "POST" && s.Response != reflect.TypeFor[api.CSV]()
		if s.Keyed() != want {
			t.Errorf("%s: keyed %t; want %t", s.ID, s.Keyed(), want)
		}
	}
}

func TestSpecChanges(t *testing.T) {
	for _, s := range api.Specs() {
		if want := s.Method != "GET" && s.ID != "export-mailboxes"; s.Changes() != want {
			t.Errorf("%s: changes %t; want %t", s.ID, s.Changes(), want)
		}
	}
}

func TestCapabilities(t *testing.T) {
	want := map[string]bool{}
	for _, o := range append(published, lifecycle...) {
		if o.capability != "" {
			want[o.capability] = true
		}
	}
	for _, c := range api.Capabilities() {
		if !want[string(c)] {
			t.Errorf("%q is asked for by no operation, or listed twice", c)
		}
		delete(want, string(c))
	}
	for c := range want {
		t.Errorf("%s is missing", c)
	}
}
