package apiserver_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestForwardingToAnotherAccount(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/forwarding", obj{"target_email": "Jane@EXAMPLE.net"}).Want(201).Is(
		"active", false, "scope_type", "account", "scope_id", accountID, "target_email", "jane@example.net", "verification_required", true,
		"verification_state", "pending", "verification_sent_at", "2026-03-14T15:09:26.535897Z", "verification_expires_at", "2026-03-17T15:09:26.535897Z",
		"verification_verified_at", nil,
	)
	if got := h.Get("/forwarding/" + a.Str("id")).Want(200); string(got.Raw) != string(a.Raw) {
		t.Errorf("%s; want the created rule: %s", got, a)
	}
	outbox := h.Service.Outbox()
	if len(outbox) != 1 || outbox[0].To != "jane@example.net" || !strings.Contains(outbox[0].Text, outbox[0].Link) {
		t.Fatalf("the outbox is %+v", outbox)
	}
	if strings.Contains(string(a.Raw), outbox[0].Link[strings.LastIndex(outbox[0].Link, "/")+1:]) {
		t.Error("the response contains the link's secret")
	}
}
