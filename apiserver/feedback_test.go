package apiserver_test

import (
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
)

func TestFeedback(t *testing.T) {
	h := apitest.New(t)
	a := h.Post("/feedback", `{"title":"T","description":"D","category":"bug_report","paid_product_feature":true,
		"attributes":{"n":12345678901234567890123,"deep":{"list":[1,null,{"x":true}]},"Ü":"<&>"}}`).Want(201).Is(
		"account_id", accountID, "title", "T", "description", "D", "category", "bug_report", "status", "new", "paid_product_feature", true, "admin_notes", nil,
		"attributes.deep.list.2.x", true, "attributes.Ü", "<&>", "created_at", "2026-03-14T15:09:26.535897Z", "updated_at", "2026-03-14T15:09:26.535897Z",
	)
	if !strings.Contains(string(a.Raw), `"n":12345678901234567890123`) {
		t.Errorf("the number is not as it was sent: %s", a)
	}
	for _, body := range []string{`{"title":"T","description":"D"}`, `{"title":"T","description":"D","attributes":null,"category":null,"paid_product_feature":null}`} {
		a := h.Post("/feedback", body).Want(201).Is("category", "other", "paid_product_feature", false)
		if attributes, ok := a.At("attributes").(map[string]any); !ok || len(attributes) != 0 {
			t.Errorf("the attributes are %v; want {}", a.At("attributes"))
		}
	}
	h.Post("/feedback", `{"category":"praise","attributes":[],"paid_product_feature":"no"}`).Refused(422,
		"body.attributes dict_type", "body.category enum", "body.description missing", "body.paid_product_feature bool_type", "body.title missing")
}

// TestFeedbackNeedsNoCapability checks that any credential of the account may submit
// feedback.
func TestFeedbackNeedsNoCapability(t *testing.T) {
	h := apitest.New(t)
	h.Limited(t).Post("/feedback", obj{"title": "T", "description": "D"}).Want(201).Is("created_by_user_id", nil, "submitter_name", "limited", "submitter_email", nil)
}
