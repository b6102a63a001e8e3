package client

import (
	"context"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// SubmitFeedback submits product feedback.
func (c *Client) SubmitFeedback(ctx context.Context, body api.SubmitFeedbackBody) (*api.Feedback, error) {
	return create(ctx, c, api.SubmitFeedback, &api.SubmitFeedbackRequest{Body: body}, &creation[api.Feedback]{
		object: body.Title, may: "the feedback may have been submitted",
	})
}
