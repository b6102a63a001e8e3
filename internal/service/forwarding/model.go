package forwarding

import (
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

type model struct {
	service.Scope

	ID                     types.String      `tfsdk:"id"`
	TargetEmail            customtype.String `tfsdk:"target_email"`
	Active                 types.Bool        `tfsdk:"active"`
	VerificationRequired   types.Bool        `tfsdk:"verification_required"`
	VerificationState      types.String      `tfsdk:"verification_state"`
	VerificationSentAt     types.String      `tfsdk:"verification_sent_at"`
	VerificationExpiresAt  types.String      `tfsdk:"verification_expires_at"`
	VerificationVerifiedAt types.String      `tfsdk:"verification_verified_at"`
	CreatedAt              types.String      `tfsdk:"created_at"`
	UpdatedAt              types.String      `tfsdk:"updated_at"`
	OnExisting             types.String      `tfsdk:"on_existing"`
}

// String names the rule in messages.
func (m model) String() string {
	if m.TargetEmail.ValueString() == "" { // an import found no rule
		return "forwarding rule " + m.ID.ValueString()
	}
	return "forwarding rule to " + m.TargetEmail.ValueString() + " of " + m.Expand().String()
}

// naturalKeys returns the keys of a rule in the walk: its target in each form of its scope.
func naturalKeys(attribute func(string) string) []string {
	target, err := customtype.EmailAddress.Normalize(attribute("target_email"))
	if err != nil {
		return nil
	}
	prefix := target + " in "
	if id := attribute("scope_id"); id != "" {
		return append(service.DomainKeys(attribute, prefix), prefix+id)
	}
	if keys := service.DomainKeys(attribute, prefix); keys != nil {
		return keys
	}
	return nil
}

// stillForwards describes the consequence of a rule that can't be stopped.
func (m model) stillForwards() string {
	if m.Active.ValueBool() && m.confirmed() {
		return "It still forwards mail to " + m.TargetEmail.ValueString() + "."
	}
	return "It will forward mail to " + m.TargetEmail.ValueString() + " as soon as the recipient has confirmed."
}

// confirmed reports whether the rule's target receives mail. Until then, a response does
// not distinguish a rule that is switched off from a pending one.
func (m model) confirmed() bool {
	return confirmed(m.VerificationState.ValueString())
}

// released reports whether the rule is pending without a verification message.
func (m model) released() bool {
	return m.VerificationState.ValueString() == vocab.VerificationPending && m.VerificationSentAt.IsNull()
}

func confirmed(verificationState string) bool {
	return verificationState == vocab.VerificationInternal || verificationState == vocab.VerificationVerified
}

// keepVerification restores the attributes that change without Terraform. The next
// refresh reads them.
func (m *model) keepVerification(known model) {
	m.VerificationRequired, m.VerificationState = known.VerificationRequired, known.VerificationState
	m.VerificationSentAt, m.VerificationExpiresAt = known.VerificationSentAt, known.VerificationExpiresAt
	m.VerificationVerifiedAt = known.VerificationVerifiedAt
}
