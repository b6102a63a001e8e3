// Package forwarding provides the resource mailhost_forwarding, its data sources and its
// list resource, and the action mailhost_resend_forwarding_verification.
//
// An attribute that changes in place needs an operation of its own, as active does: the update of the API requires
// target_email, and sends the recipient another message. Update gets a step like switchTo, and the adoption in
// create takes it too. An attribute that replaces the rule must equal that of an adopted rule.
package forwarding

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
)

var Definition = &service.Definition[api.Forwarding, model]{
	Name: "forwarding",
	Collection: service.Collection[api.Forwarding]{
		Names: "forwardings", Noun: "forwarding rule", Nouns: "forwarding rules",
		Attributes: attributes,
		List:       service.Listed((*client.Client).ListForwarding),
	},
	Objects:             func(c *client.Client) *client.Objects[api.Forwarding] { return c.Forwarding },
	FindInScope:         (*client.Client).FindForwarding,
	ImportBy:            "<domain>/<target>, <workspace UUID>/<target>, <target> alone for a rule of the account, or the rule's UUID",
	ResourceDescription: description,
	Settings: func() map[string]schema.Attribute {
		return map[string]schema.Attribute{"on_existing": service.OnExisting[api.SetForwardingActiveBody]("a rule of this scope to this target", ", without a new verification message")}
	},
	NaturalKeys: naturalKeys,
	ImportNotes: map[string]any{switchKey: switchState{Imported: true}},
	Volatile: []string{
		"active", "verification_required", "verification_state", "verification_sent_at", "verification_expires_at", "verification_verified_at", "updated_at",
	},
	Losses:            losses,
	DeleteOperation:   api.DeleteForwarding.Spec,
	OrphanConsequence: func(_ context.Context, _ *client.Client, m model) string { return m.stillForwards() },
	Single: service.Single[api.Forwarding]{
		Description: "A forwarding rule that exists, by its UUID, or by its target within its scope.",
		Keys: []attribute.Filter{
			attribute.IDKey("rule", "`target_email`"),
			attribute.NewFilter("target_email", "Address that mail is forwarded to. Upper and lower case are the same. Set it or `id`.",
				customtype.EmailAddress.Validator()),
		},
	},
	Listing: service.Listing[api.Forwarding, model]{
		Note: "`active` is null for a rule with a pending verification: the API does not return whether it is switched off, and a configuration generated from it must not switch it off.",
		Imported: func(_ context.Context, _ *client.Client, m *model) error {
			if !m.confirmed() {
				m.Active = types.BoolNull() // false would switch off a pending rule
			}
			return nil
		},
	},
}

const description = "A rule that forwards the mail of the account, of a workspace or of a domain to an address.\n\n" +
	"A target that is an address of the account (of a mailbox or an alias) receives mail at once, also if the same apply creates the mailbox, in any order. If that address is deleted, the rule stops forwarding until it is verified again, even if the address is created again.\n\n" +
	"Any other target gets a message with a verification link. Mail is forwarded after the recipient has opened the link and confirmed, within 72 hours; `verification_state` shows the progress. Terraform does not wait for the confirmation, and its progress never shows up as a change.\n\n" +
	"**A rule that forwards no mail until you act is a warning of every plan:** its link is expired, its target was deleted, no mailbox of your domain has the target's address, or the mailbox was created later. Send a new message with the action `mailhost_resend_forwarding_verification` (Terraform 1.14 and later), " +
	"or replace the rule: `terraform apply -replace=mailhost_forwarding.<name>`. An API with the published operations only can't delete the old rule; delete it in the service's own control panel first.\n\n" +
	"Plans also warn of a rule that they delete, replace, redirect or switch off, and of a new one to an address outside the account. A target that another rule of the scope has is an error, because the two could not be applied in a safe order: the error explains how to exchange two targets.\n\n" +
	"The API limits verification messages for each account: mailhostd allows 20 at once, and one a minute after that. An apply that creates more such rules retries for up to five minutes for each rule, and then fails; run it again to continue. Rules to addresses of the account are not limited.\n\n" +
	"A rule of a domain is deleted together with the domain."

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"target_email": schema.StringAttribute{
			Required:            true,
			CustomType:          customtype.EmailAddress,
			MarkdownDescription: "Address that mail is forwarded to. Upper and lower case are the same. For a mailbox of this configuration, refer to its `primary_email`. Changing it updates the rule in place and restarts its verification.",
		},
		"active": schema.BoolAttribute{
			Optional: true,
			Computed: true,
			MarkdownDescription: "Whether the rule forwards mail. A rule is on as soon as its target is an address of the account or has been confirmed. " +
				"Set it to `false` to switch the rule off; the recipient's confirmation remains valid. Set it to `true` to switch the rule on again. " +
				"With `true`, Terraform also switches on a rule that was switched off outside Terraform, and the value stays `true` while `verification_state` is `pending`. " +
				"If you omit or remove it, Terraform leaves the switch alone, and the value is the one of the last refresh. " +
				"For an imported rule with a pending verification, the API does not return whether it is switched off, and `false` takes effect after the recipient has confirmed.",
		},
	}
}

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
	return "forwarding rule to " + m.target() + " of " + m.Label()
}

// target returns the target in the API's form, for a message.
func (m model) target() string {
	if m.TargetEmail.IsUnknown() {
		return "an address that is known after the apply"
	}
	target := m.TargetEmail.ValueString()
	if canonical, err := customtype.EmailAddress.Normalize(target); err == nil {
		return canonical
	}
	return target
}

// naturalKeys returns the keys of a rule in the walk: its target in each form of its scope.
func naturalKeys(of attribute.Raw) []string {
	target, err := customtype.EmailAddress.Normalize(of.Text("target_email"))
	if err != nil {
		return nil
	}
	keys := attribute.DomainKeys(of.Text, target+" in ")
	if of["domain"].IsNull() && of["workspace_id"].IsNull() {
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
		return "It still forwards mail to " + m.target() + "."
	}
	return "It will forward mail to " + m.target() + " as soon as the recipient has confirmed."
}

// confirmed reports whether the rule's target is confirmed. Until then, a response does not
// show whether the rule is switched off.
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

// keepVerification restores the attributes that change without Terraform.
func (m *model) keepVerification(known model) {
	m.VerificationRequired, m.VerificationState = known.VerificationRequired, known.VerificationState
	m.VerificationSentAt, m.VerificationExpiresAt = known.VerificationSentAt, known.VerificationExpiresAt
	m.VerificationVerifiedAt = known.VerificationVerifiedAt
}
