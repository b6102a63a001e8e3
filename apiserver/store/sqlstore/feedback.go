package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var feedback = newTable(table[store.Feedback]{
	name: "feedback",
	columns: func(f *store.Feedback) []any {
		return []any{
			"id", &f.ID, "account_id", &f.AccountID, "title", &f.Title, "description", &f.Description,
			"category", &f.Category, "status", &f.Status, "attributes", &f.Attributes,
			"paid_product_feature", &f.PaidProductFeature, "submitter_email", &f.SubmitterEmail,
			"submitter_name", &f.SubmitterName, "created_by_user_id", &f.CreatedByUserID,
			"admin_notes", &f.AdminNotes, "created_at", &f.CreatedAt, "updated_at", &f.UpdatedAt,
		}
	},
})

func (t *tx) CreateFeedback(f *store.Feedback) error { return create(t, feedback, f) }
