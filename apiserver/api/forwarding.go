package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// Forwarding is a rule that sends mail to a target address.
type Forwarding struct {
	ID                     string  `json:"id" format:"uuid"`
	Active                 bool    `json:"active" doc:"Whether mail is forwarded: the rule is on, and its target is an address of the account or has been confirmed"`
	ScopeType              string  `json:"scope_type" enum:"account,workspace,domain" doc:"What it applies to"`
	ScopeID                string  `json:"scope_id" format:"uuid" doc:"UUID of the account, workspace or domain that it applies to"`
	TargetEmail            string  `json:"target_email" doc:"Address that mail is forwarded to"`
	VerificationRequired   bool    `json:"verification_required" doc:"Whether the recipient must confirm: false for an address of the account"`
	VerificationState      string  `json:"verification_state" enum:"internal,pending,verified,expired" doc:"State of the recipient's confirmation; internal if none is required"`
	VerificationSentAt     *string `json:"verification_sent_at" format:"date-time" doc:"When the message with the verification link was last sent; null if none is required"`
	VerificationExpiresAt  *string `json:"verification_expires_at" format:"date-time" doc:"When the verification link expires; null if none was sent"`
	VerificationVerifiedAt *string `json:"verification_verified_at" format:"date-time" doc:"When the recipient confirmed; null before"`
	CreatedAt              string  `json:"created_at" format:"date-time"`
	UpdatedAt              string  `json:"updated_at" format:"date-time"`
}

type CreateForwardingBody struct {
	TargetEmail string  `json:"target_email" minLength:"1" maxLength:"254"`
	Domain      *string `json:"domain,omitempty" nullable:"true" doc:"Domain UUID or domain name: the scope is that domain"`
	WorkspaceID *string `json:"workspace_id,omitempty" format:"uuid" nullable:"true" doc:"The scope is that workspace"`
}

type CreateForwardingRequest = KeyedRequest[CreateForwardingBody]

type ListForwardingRequest struct {
	InAccount
	Paged
	Domain            string `query:"domain" doc:"Only those that apply to this domain, by name or UUID"`
	WorkspaceID       string `query:"workspace_id" format:"uuid" doc:"Only those that apply to the workspace with this UUID, without those of its domains; not together with a domain"`
	ScopeType         string `query:"scope_type" enum:"account,workspace,domain" doc:"Only those with this type of scope"`
	VerificationState string `query:"verification_state" enum:"internal,pending,verified,expired" doc:"Only those whose recipient's confirmation is in this state; internal needs none"`
	Search            string `query:"search" doc:"Only those with this text in their target's address, in upper or lower case, and an internationalized domain in either form"`
}

// UpdateForwardingRequest sets a target. The same target again sends a new verification message.
type UpdateForwardingRequest struct {
	InAccount
	ForwardingID string `path:"forwarding_id" format:"uuid"`
	Body         UpdateForwardingBody
}

type UpdateForwardingBody struct {
	TargetEmail string `json:"target_email" minLength:"1" maxLength:"254"`
}

// SetForwardingActiveRequest switches a rule on or off.
type SetForwardingActiveRequest struct {
	InAccount
	ForwardingID string `path:"forwarding_id" format:"uuid"`
	Body         SetForwardingActiveBody
}

type SetForwardingActiveBody struct {
	Active bool `json:"active"`
}

type ForwardingRequest struct {
	InAccount
	ForwardingID string `path:"forwarding_id" format:"uuid"`
}

var forwarding = Kind{Tag: "Forwarding", Noun: "forwarding rule", Description: "Rules that forward the mail of a scope, once the recipient has agreed"}

// Operations on forwarding rules.
var (
	CreateForwarding = defineCreate[CreateForwardingBody, Forwarding]("POST /forwarding", "Create a forwarding rule", Spec{
		Number: 6, ID: "create-forwarding", Kind: forwarding, Capability: vocab.CapForwardingManage, Narrowable: true,
	})
	ListForwarding = define[ListForwardingRequest, Page[Forwarding]]("GET /forwarding", "List forwarding rules", Spec{
		Number: 7, ID: "list-forwarding", Kind: forwarding, Capability: vocab.CapForwardingView, Narrowable: true,
	})
	UpdateForwarding = define[UpdateForwardingRequest, Forwarding]("PATCH /forwarding/{forwarding_id}", "Change a forwarding rule's target, or send the verification again", Spec{
		Number: 8, ID: "update-forwarding", Kind: forwarding, Capability: vocab.CapForwardingManage, Narrowable: true,
	})
	GetForwarding = define[ForwardingRequest, Forwarding]("GET /forwarding/{forwarding_id}", "Read a forwarding rule", Spec{
		ID: "get-forwarding", Kind: forwarding, Capability: vocab.CapForwardingView, Narrowable: true,
	})
	DeleteForwarding = defineEmpty[ForwardingRequest]("DELETE /forwarding/{forwarding_id}", "Delete a forwarding rule", Spec{
		ID: "delete-forwarding", Kind: forwarding, Capability: vocab.CapForwardingManage, Narrowable: true,
	})
	SetForwardingActive = define[SetForwardingActiveRequest, Forwarding]("PATCH /forwarding/{forwarding_id}/active", "Switch a forwarding rule on or off", Spec{
		ID: "set-forwarding-active", Kind: forwarding, Capability: vocab.CapForwardingManage, Narrowable: true,
	})
)
