package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// Authorization is a grant to a subject.
type Authorization struct {
	ID            string  `json:"id" format:"uuid"`
	GrantKind     string  `json:"grant_kind" enum:"capability,account_owner,super_admin" doc:"What is granted; account_owner and super_admin have every permission in the account, capability is one permission"`
	SubjectType   string  `json:"subject_type" enum:"user,group,service_account" doc:"Type of the subject that has the grant"`
	SubjectID     string  `json:"subject_id" doc:"Id of the subject: a service account's UUID, or the id of the user or group at the OAuth issuer"`
	CapabilityKey *string `json:"capability_key" doc:"The permission of a capability grant, such as mailbox.create; null for the other kinds"`
	ResourceType  *string `json:"resource_type" enum:"workspace,domain" doc:"Type of the resource that a capability grant is restricted to; null for the whole account"`
	ResourceID    *string `json:"resource_id" format:"uuid" doc:"UUID of the workspace or domain that a capability grant is restricted to; null for the whole account"`
	CreatedAt     *string `json:"created_at" format:"date-time" doc:"When it was granted"`
	RevokedAt     *string `json:"revoked_at" format:"date-time" doc:"When it was revoked; null if it is not revoked"`
}

// Caller is the sender of a request, with its rights.
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
	SubjectType    string `query:"subject_type" enum:"user,group,service_account" doc:"Only those of this type of subject"`
	SubjectID      string `query:"subject_id" doc:"Only those of the subject with this id"`
	GrantKind      string `query:"grant_kind" enum:"capability,account_owner,super_admin" doc:"Only those of this kind"`
	CapabilityKey  string `query:"capability_key" doc:"Only those of this permission, such as mailbox.create; not those of owners and administrators, who have every permission without a key"`
	IncludeRevoked bool   `query:"include_revoked" default:"false" doc:"Whether to include revoked ones, which it does not by default"`
}

// Creation names the creator of a service account or a grant. A grant that a service account inherited
// was created by the service account's creator.
type Creation struct {
	ObjectType string        `json:"object_type" enum:"service_account,authorization"`
	ObjectID   string        `json:"object_id" format:"uuid" doc:"Id of the service account or the authorization"`
	CreatedBy  *AuditSubject `json:"created_by" doc:"Null if the creator is unknown"`
}

// ListCreationsRequest is the request for all creations, or those that descend from a subject.
type ListCreationsRequest struct {
	InAccount
	SubjectType    string `query:"subject_type" enum:"user,group,service_account" doc:"Only what descends from a subject of this type"`
	SubjectID      string `query:"subject_id" doc:"Only what descends from the subject with this id: what it created, what its service accounts created, and what a subject created with rights that only came from them; grants of these service accounts end with them and are left out"`
	IncludeRevoked bool   `query:"include_revoked" default:"false" doc:"Whether to include what no longer works: what is revoked or expired, and grants of such service accounts"`
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
	ListCreations = define[ListCreationsRequest, []Creation]("GET /auth/creations", "List who created the account's service accounts and authorizations", Spec{
		ID: "list-creations", Kind: authorizations, Capability: vocab.CapAuthorizationView,
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
