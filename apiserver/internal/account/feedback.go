package account

import (
	"net/http"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/ratelimit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// feedbackLimit is how often a credential submits feedback: it needs no capability,
// and every submission is kept.
var feedbackLimit = ratelimit.Limit{Requests: 20, Per: 20 * time.Minute}

// SubmitFeedback implements api.SubmitFeedback.
func SubmitFeedback(c *Call, in *api.SubmitFeedbackRequest) (*api.Feedback, error) {
	if u := c.rules.feedback.Take(c.caller.Credential(), c.at); !u.Allowed {
		return nil, api.NewError(http.StatusTooManyRequests, api.TypeRateLimited,
			"this credential has submitted much feedback already; try again in %d s", u.Wait).At("header", "Authorization").RetryAfter(u.Wait)
	}
	id := c.rules.random.ID()
	return transact(c, func(tx store.Tx) (*api.Feedback, error) {
		f := store.Feedback{
			ID: id, AccountID: c.caller.AccountID, Title: in.Body.Title, Description: in.Body.Description,
			Category: in.Body.Category, Status: api.FeedbackNew, Attributes: in.Body.Attributes,
			PaidProductFeature: in.Body.PaidProductFeature, SubmitterEmail: c.caller.Email, SubmitterName: c.caller.Name,
			CreatedByUserID: c.caller.UserID, CreatedAt: c.at,
		}
		if err := tx.CreateFeedback(&f); err != nil {
			return nil, err
		}
		return &api.Feedback{
			ID: f.ID, AccountID: f.AccountID, Title: f.Title, Description: f.Description, Category: f.Category, Status: f.Status,
			Attributes: f.Attributes, PaidProductFeature: f.PaidProductFeature, SubmitterEmail: optional(f.SubmitterEmail),
			SubmitterName: optional(f.SubmitterName), CreatedByUserID: optional(f.CreatedByUserID), AdminNotes: optional(f.AdminNotes),
			CreatedAt: timestamp(f.CreatedAt), UpdatedAt: timestamp(f.UpdatedAt),
		}, nil
	})
}
