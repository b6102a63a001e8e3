package httpapi_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// operation is a row of the specification's endpoint table, with the additions of the
// decisions.
type operation struct {
	number     int
	method     string
	path       string // without the prefix
	status     int
	capability string
}

// published is written from the specification, not from the code. The lifecycle
// operations are only in the golden document.
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

const prefix = "/v1/public/accounts/{account_id}"

func TestSpecs(t *testing.T) {
	got := map[int]operation{}
	ids := map[string]bool{}
	for i, s := range api.Specs() {
		path, ok := strings.CutPrefix(s.Path, prefix)
		if !ok {
			t.Errorf("%s is not under the prefix", s.Path)
		}
		if ids[s.ID] {
			t.Errorf("two operations have the id %s", s.ID)
		}
		ids[s.ID] = true
		if i < len(published) && s.Number != i+1 {
			t.Errorf("the operation at %d has the number %d", i, s.Number)
		}
		if want := s.Method != "GET" && s.ID != "export-mailboxes"; s.Changes() != want {
			t.Errorf("%s: changes %t; want %t", s.ID, s.Changes(), want)
		}
		// Whatever creates an object or moves money accepts an Idempotency-Key.
		if want := s.Method == "POST" && s.Response != reflect.TypeFor[api.CSV](); s.Keyed() != want {
			t.Errorf("%s: keyed %t; want %t", s.ID, s.Keyed(), want)
		}
		if !s.Lifecycle() {
			got[s.Number] = operation{s.Number, s.Method, path, s.Status, string(s.Capability)}
		}
	}
	for _, want := range published {
		if got[want.number] != want {
			t.Errorf("operation %d is %+v; want %+v", want.number, got[want.number], want)
		}
		delete(got, want.number)
	}
	for number := range got {
		t.Errorf("operation %d is in no document", number)
	}
}

func TestCapabilities(t *testing.T) {
	want := map[string]bool{}
	for _, s := range api.Specs() {
		if s.Capability != "" {
			want[string(s.Capability)] = true
		}
	}
	for _, c := range api.Capabilities() {
		if !want[string(c)] {
			t.Errorf("%q is required by no operation, or listed twice", c)
		}
		delete(want, string(c))
	}
	for c := range want {
		t.Errorf("%s is missing", c)
	}
}
