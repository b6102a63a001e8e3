package forwarding

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

const resendDescription = "Sends the recipient of a forwarding rule a new message with a verification link, which is valid for 72 hours. The link of the previous message stops working.\n\n" +
	"Use it for a rule whose `verification_state` is `pending` or `expired`, for instance after its target, an address of the account, was deleted. If there is nothing to confirm, the action does nothing and reports that. It is no error, so that a trigger can invoke it at any time. " +
	"Creating a rule and changing its `target_email` send a message too.\n\n" +
	"The API limits messages for each account: mailhostd allows 20 at once, and one a minute after that. When the limit is reached, the action retries for a few minutes, and then fails with the time after which to try again."

type resendConfig struct {
	ForwardingID types.String `tfsdk:"forwarding_id"`
}

func NewResend() action.Action {
	return &service.Action[resendConfig]{
		Name: "resend_forwarding_verification",
		Definition: schema.Schema{
			MarkdownDescription: resendDescription,
			Attributes: map[string]schema.Attribute{
				"forwarding_id": schema.StringAttribute{
					Required:            true,
					Validators:          []validator.String{customtype.UUID.Validator()},
					MarkdownDescription: "UUID of the forwarding rule, for instance `mailhost_forwarding.archive.id`.",
				},
			},
		},
		Run: resend,
	}
}

// resend updates a rule with its current target, so that the API sends a new message.
func resend(ctx context.Context, c *client.Client, config resendConfig, resp *action.InvokeResponse) {
	id := config.ForwardingID.ValueString()
	f, err := c.Forwarding.Get(ctx, id)
	if err != nil {
		addResendError(resp, err, id)
		return
	}
	if confirmed(f.VerificationState) {
		service.Progress(resp, "Nothing to send: %s.", verificationStatus(f))
		return
	}
	service.Progress(resp, "Sending a new verification message to %s; the state is %s.", f.TargetEmail, f.VerificationState)
	f, err = c.UpdateForwarding(ctx, f.ID, api.UpdateForwardingBody{TargetEmail: f.TargetEmail})
	if err != nil {
		addResendError(resp, err, id)
		return
	}
	service.Progress(resp, "Done: %s.", verificationStatus(f))
}

func verificationStatus(f *api.Forwarding) string {
	switch f.VerificationState {
	case vocab.VerificationInternal:
		return f.TargetEmail + " is an address of the account and needs no confirmation"
	case vocab.VerificationVerified:
		return f.TargetEmail + " has confirmed already"
	}
	if f.VerificationExpiresAt == nil {
		return f.TargetEmail + " was sent a new message"
	}
	return f.TargetEmail + " was sent a new message, and has until " + *f.VerificationExpiresAt + " to confirm"
}

// addResendError reports why no message was sent. It maps every problem to the action's only
// argument, the id.
func addResendError(resp *action.InvokeResponse, err error, id string) {
	summary := "Can't send the verification message of the forwarding rule " + id + " again"
	fields := report.Fields{"target_email": "forwarding_id", "path.forwarding_id": "forwarding_id"}
	const checkID = "Check the id, and that account_id is the account that has the rule."
	switch {
	case client.IsNotFound(err) && client.StatusOf(err) == 0: // found by a list
		resp.Diagnostics.AddAttributeError(path.Root("forwarding_id"), summary, "The account has no such forwarding rule. "+checkID)
		return
	case client.IsNotFound(err):
		err = report.WithAdvice(err, checkID)
	case client.StatusOf(err) == http.StatusTooManyRequests:
		err = report.WithAdvice(err, "Invoke the action again after that time.")
	}
	report.Error(&resp.Diagnostics, err, summary, fields)
}
