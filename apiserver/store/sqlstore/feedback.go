package sqlstore

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

var feedback = newTable(table[store.Feedback]{name: "feedback"})

func (t *tx) CreateFeedback(f *store.Feedback) error { return create(t, feedback, f) }
