package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// Authorization is a grant to a subject.
type Authorization struct {
	ID            string  `json:"id" format:"uuid"`
	GrantKind     string  `json:"grant_kind" enum:"capability,account_owner,super_admin"`
	SubjectType   string  `json:"subject_type" enum:"user,group,service_account"`
	SubjectID     string  `json:"subject_id"`
	CapabilityKey *string `json:"capability_key"`
	ResourceType  *string `json:"resource_type" enum:"workspace,domain"`
	ResourceID    *string `json:"resource_id" format:"uuid"`
	CreatedAt     *string `json:"created_at" format:"date-time"`
	RevokedAt     *string `json:"revoked_at" format:"date-time"`
}

// Caller is who sends a request, and what they may do.
type Caller struct {
	SubjectType string          `json:"subject_type" enum:"user,service_account"`
	SubjectID   string          `json:"subject_id" doc:"The service account's id, or the user as the OAuth issuer names it"`
	Name        *string         `json:"name"`
	Email       *string         `json:"email"`
	ExpiresAt   *string         `json:"expires_at" format:"date-time" doc:"When the credential expires"`
	Grants      []Authorization `json:"grants" nullable:"false" doc:"Grants to the caller or to a group of the caller"`
}

type ListAuthorizationsRequest struct {
	InAccount
	SubjectType    string `query:"subject_type" enum:"user,group,service_account"`
	SubjectID      string `query:"subject_id"`
	GrantKind      string `query:"grant_kind" enum:"capability,account_owner,super_admin"`
	CapabilityKey  string `query:"capability_key"`
	IncludeRevoked bool   `query:"include_revoked" default:"false"`
}

type GrantAuthorizationBody struct {
	GrantKind     string  `json:"grant_kind" enum:"capability,account_owner,super_admin"`
	SubjectType   string  `json:"subject_type" enum:"user,group,service_account"`
	SubjectID     string  `json:"subject_id" minLength:"1" maxLength:"255" format:"name" doc:"A service account's id, or the user or group as the OAuth issuer names it"`
	CapabilityKey *string `json:"capability_key,omitempty" nullable:"true" doc:"Required for grant_kind capability, refused elsewhere"`
	ResourceType  *string `json:"resource_type,omitempty" enum:"workspace,domain" nullable:"true" doc:"Restricts a capability grant"`
	ResourceID    *string `json:"resource_id,omitempty" format:"uuid" nullable:"true" doc:"Workspace or domain that the grant is restricted to"`
}

type GrantAuthorizationRequest = KeyedRequest[GrantAuthorizationBody]

type AuthorizationRequest struct {
	InAccount
	AuthorizationID string `path:"authorization_id" format:"uuid"`
}

var authorizations = Kind{Tag: "Authorizations", Noun: "authorization", Description: "Grants, and who the caller is"}

// Operations on authorizations.
var (
	ListAuthorizations = define[ListAuthorizationsRequest, []Authorization]("GET /auth/authorizations", "List the account's authorizations", Spec{
		Number: 2, ID: "list-authorizations", Kind: authorizations, Capability: vocab.CapAuthorizationView,
	})
	GetCaller = define[InAccount, Caller]("GET /auth/caller", "Read who the caller is, and the caller's grants", Spec{
		ID: "get-caller", Kind: authorizations,
	})
	GrantAuthorization = defineCreate[GrantAuthorizationBody, Authorization]("POST /auth/authorizations", "Grant an authorization, never more than the caller has", Spec{
		ID: "grant-authorization", Kind: authorizations, Capability: vocab.CapAuthorizationManage,
	})
	RevokeAuthorization = defineEmpty[AuthorizationRequest]("DELETE /auth/authorizations/{authorization_id}", "Revoke an authorization, except for the last account_owner", Spec{
		ID: "revoke-authorization", Kind: authorizations, Capability: vocab.CapAuthorizationManage, WhenCancelled: true,
	})
)
