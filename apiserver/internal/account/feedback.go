package account

import (
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// feedbackOperations binds the operation on feedback to its rule.
var feedbackOperations = []Operation{
	change(api.SubmitFeedback, submitFeedback),
}

// feedbackLimit limits the feedback of each credential, because it requires no capability and is
// stored.
var feedbackLimit = ratelimit.Limit{Requests: 20, Per: 20 * time.Minute}

func submitFeedback(c *Call, tx store.Tx, in *api.SubmitFeedbackRequest) (*api.Feedback, error) {
	u, err := feedbackLimit.TakeStored(tx, "feedback "+c.Caller.Credential(), c.Arrival)
	if err != nil {
		return nil, err
	}
	if !u.Allowed {
		return nil, api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
			"this credential has submitted much feedback already; try again in %d s", u.Wait).At("header", "Authorization").RetryAfter(u.Wait)
	}
	f := store.Feedback{
		ID: c.Rules.Random.ID(), AccountID: c.Caller.AccountID, Title: in.Body.Title, Description: in.Body.Description,
		Category: in.Body.Category, Status: api.FeedbackNew, Attributes: in.Body.Attributes,
		PaidProductFeature: in.Body.PaidProductFeature, SubmitterEmail: c.Caller.Email, SubmitterName: c.Caller.Name,
		CreatedByUserID: c.Caller.UserID, CreatedAt: c.Arrival,
	}
	err = tx.Create(&f)
	return &api.Feedback{
		ID: f.ID, AccountID: f.AccountID, Title: f.Title, Description: f.Description, Category: f.Category, Status: f.Status,
		Attributes: f.Attributes, PaidProductFeature: f.PaidProductFeature, SubmitterEmail: optional(f.SubmitterEmail),
		SubmitterName: optional(f.SubmitterName), CreatedByUserID: optional(f.CreatedByUserID), AdminNotes: optional(f.AdminNotes),
		CreatedAt: timestamp(f.CreatedAt), UpdatedAt: timestamp(f.UpdatedAt),
	}, err
}
