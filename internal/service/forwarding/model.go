package forwarding

import (
	"strings"

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

func (m model) String() string {
	if m.TargetEmail.ValueString() == "" { // an import found no rule
		return "forwarding rule " + m.ID.ValueString()
	}
	return "forwarding rule to " + m.TargetEmail.ValueString() + " of " + m.Expand().String()
}

// naturalKeys returns the keys of a rule in the walk: its target in each form of its scope.
func naturalKeys(of service.Attributes) []string {
	target, err := customtype.EmailAddress.Normalize(of.Text("target_email"))
	if err != nil {
		return nil
	}
	keys := service.DomainKeys(of.Text, target+" in ")
	if of.IsNull("domain") && of.IsNull("workspace_id") {
		keys = append(keys, target+" in the account")
	}
	for _, scope := range []string{"workspace_id", "scope_id"} {
		if id := of.Text(scope); id != "" {
			keys = append(keys, target+" in "+strings.ToLower(id))
		}
	}
	return keys
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
