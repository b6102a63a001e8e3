package store

import "time"

// Feedback is product feedback as it was submitted. The optional fields are
// empty where there is none.
type Feedback struct {
	ID, AccountID                 string
	Title, Description            string
	Category, Status              string
	Attributes                    []byte // JSON, as it came
	PaidProductFeature            bool
	SubmitterEmail, SubmitterName string
	CreatedByUserID, AdminNotes   string
	CreatedAt, UpdatedAt          time.Time
}

// FeedbackWriter writes feedback.
type FeedbackWriter interface {
	CreateFeedback(f *Feedback) error
}
