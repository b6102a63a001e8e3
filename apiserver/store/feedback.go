package store

import "time"

// Feedback is product feedback as it was submitted. Optional fields may be empty.
type Feedback struct {
	ID, AccountID                 string
	Title, Description            string
	Category, Status              string
	Attributes                    []byte // JSON, as submitted
	PaidProductFeature            bool
	SubmitterEmail, SubmitterName string
	CreatedByUserID, AdminNotes   string
	CreatedAt, UpdatedAt          time.Time
}

// FeedbackWriter writes feedback.
type FeedbackWriter interface {
	CreateFeedback(f *Feedback) error
}
