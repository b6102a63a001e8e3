package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var feedback = newTable(table[store.Feedback]{
	name: "feedback",
	columns: []string{"id", "account_id", "title", "description", "category", "status", "attributes",
		"paid_product_feature", "submitter_email", "submitter_name", "created_by_user_id", "admin_notes",
		"created_at", "updated_at"},
	fields: func(f *store.Feedback) []any {
		return []any{&f.ID, &f.AccountID, &f.Title, &f.Description, &f.Category, &f.Status, rawText{&f.Attributes},
			&f.PaidProductFeature, &f.SubmitterEmail, &f.SubmitterName, &f.CreatedByUserID, &f.AdminNotes,
			micros{&f.CreatedAt}, micros{&f.UpdatedAt}}
	},
})

func (t *tx) CreateFeedback(f *store.Feedback) error { return create(t, feedback, f) }
