package store

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Account is a customer's account.
type Account struct {
	ID     string
	Status string
	PlanID string
	// CancelsAt is when a pending cancellation takes effect; zero if there is none.
	CancelsAt time.Time
	// NextPlanID is the plan from PlanChangesAt on; both are zero if no change is pending.
	NextPlanID    string
	PlanChangesAt time.Time
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Identity implements [Object].
func (a Account) Identity() Identity { return Identity{a.ID, "account", a.ID, ""} }

// PeriodEnd returns the end of the billing period that contains now. Periods are calendar months.
func PeriodEnd(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// StatusAt returns the account's status at a time: a cancellation takes effect without a write.
func (a Account) StatusAt(now time.Time) string {
	if a.Status == vocab.AccountPendingCancellation && !now.Before(a.CancelsAt) {
		return vocab.AccountCancelled
	}
	return a.Status
}

// PlanAt returns the account's plan at a time: a change takes effect without a write,
// unless the account is cancelled by then.
func (a Account) PlanAt(now time.Time) string {
	cancelled := a.Status != vocab.AccountActive && !a.PlanChangesAt.Before(a.CancelsAt)
	if a.NextPlanID != "" && !now.Before(a.PlanChangesAt) && !cancelled {
		return a.NextPlanID
	}
	return a.PlanID
}

// Workspace groups domains of an account.
type Workspace struct {
	ID, AccountID string
	// Name is unique within the account.
	Name      string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Identity implements [Object].
func (w Workspace) Identity() Identity { return Identity{w.AccountID, "workspace", w.ID, w.Name} }

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

// Identity implements [Object].
func (f Feedback) Identity() Identity { return Identity{f.AccountID, "feedback", f.ID, f.Title} }
