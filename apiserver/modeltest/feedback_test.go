package modeltest

import (
	"encoding/json"
	"fmt"
	"time"
)

func (m *machine) submitFeedback() { m.do(m.caller(), m.feedback()) }

// feedback submits new feedback: its title contains a counter.
func (m *machine) feedback() operation {
	m.titles++
	body := obj{"title": fmt.Sprintf("Title %d", m.titles), "description": draw(m, "description", "Words.", "<b>ü</b>\nand\ta tab")}
	expected := obj{"category": "other", "paid_product_feature": false, "attributes": obj{}}
	if draw(m, "category", false, true) {
		body["category"] = draw(m, "category", "bug_report", "product_feedback", "feature_request", "other")
		expected["category"] = body["category"]
	}
	if draw(m, "paid", false, true) {
		body["paid_product_feature"], expected["paid_product_feature"] = true, true
	}
	if draw(m, "attributes", false, true) {
		body["attributes"] = draw[any](m, "attributes", obj{"a": "b"}, obj{}, obj{"n": json.Number("12345678901234567890.5"), "deep": []any{obj{"x": nil}, true}})
		expected["attributes"] = body["attributes"]
	}
	faults := m.spoil("body", body, "title", "description")
	return operation{
		method: "POST", path: "/feedback", body: body, keyed: true, faults: faults,
		then: func(who *caller) want {
			var at time.Time
			return created(obj{
				"id": m.learnID(new(string)), "account_id": accountID, "title": body["title"], "description": body["description"],
				"category": expected["category"], "status": "new", "attributes": expected["attributes"], "paid_product_feature": expected["paid_product_feature"],
				"submitter_email": nil, "submitter_name": m.submitter(who), "created_by_user_id": maybe(m.userOf(who)), "admin_notes": nil,
				"created_at": m.creation(&at), "updated_at": m.creation(&at),
			})
		},
	}
}

func (m *machine) submitter(who *caller) any {
	if who.account != nil {
		return who.account.name
	}
	return nil
}
