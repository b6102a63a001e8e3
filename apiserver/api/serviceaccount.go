package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// ServiceAccount is a machine credential. Only CreatedServiceAccount contains its token.
type ServiceAccount struct {
	ID              string  `json:"id" format:"uuid"`
	AccountID       string  `json:"account_id" format:"uuid" doc:"UUID of the account"`
	Name            string  `json:"name" doc:"Name of the service account; several may have the same name"`
	TokenLast4      string  `json:"token_last4" minLength:"4" maxLength:"4" doc:"Last four characters of the token"`
	TokenPrefix     string  `json:"token_prefix" doc:"Fixed beginning of the token"`
	TokenPublicID   string  `json:"token_public_id" doc:"Part of the token that identifies it and is not secret"`
	CreatedAt       string  `json:"created_at" format:"date-time"`
	UpdatedAt       string  `json:"updated_at" format:"date-time"`
	CreatedByUserID *string `json:"created_by_user_id" format:"uuid" doc:"UUID of the user who created it; null if a service account did"`
	ExpiresAt       *string `json:"expires_at" format:"date-time" doc:"When the token expires; null if it never does"`
	LastUsedAt      *string `json:"last_used_at" format:"date-time" doc:"When the token was last used, to the minute; null if it was never used"`
	RevokedAt       *string `json:"revoked_at" format:"date-time" doc:"When the service account was revoked, and its token stopped working; null if it is not revoked"`
	RevokedByUserID *string `json:"revoked_by_user_id" format:"uuid" doc:"UUID of the user who revoked it"`
}

// CreatedServiceAccount is the response to a create, the only response with the token.
type CreatedServiceAccount struct {
	ServiceAccount
	Token string `json:"token" minLength:"1" doc:"Plaintext bearer token, shown only in this response"`
}

type CreateServiceAccountBody struct {
	Name      string  `json:"name" minLength:"1" maxLength:"120" format:"name"`
	ExpiresAt *string `json:"expires_at,omitempty" format:"date-time" nullable:"true" doc:"When the token stops working; in the future, and no later than that of the service account that creates it, which is the default; without either: never"`
}

type CreateServiceAccountRequest = KeyedRequest[CreateServiceAccountBody]

type ServiceAccountRequest struct {
	InAccount
	ServiceAccountID string `path:"service_account_id" format:"uuid"`
}

var serviceAccounts = Kind{Tag: "Service accounts", Noun: "service account", Description: "Credentials of machines"}

// Operations on service accounts.
var (
	CreateServiceAccount = defineCreate[CreateServiceAccountBody, CreatedServiceAccount]("POST /auth/service-accounts", "Create a service account; its token is in this response only", Spec{
		Number: 1, ID: "create-service-account", Kind: serviceAccounts, Capability: vocab.CapServiceAccountCreate,
	})
	ListServiceAccounts = define[ListRequest, Page[ServiceAccount]]("GET /auth/service-accounts", "List service accounts", Spec{
		ID: "list-service-accounts", Kind: serviceAccounts, Capability: vocab.CapServiceAccountView,
	})
	GetServiceAccount = define[ServiceAccountRequest, ServiceAccount]("GET /auth/service-accounts/{service_account_id}", "Read a service account", Spec{
		ID: "get-service-account", Kind: serviceAccounts, Capability: vocab.CapServiceAccountView,
	})
	RevokeServiceAccount = defineEmpty[ServiceAccountRequest]("DELETE /auth/service-accounts/{service_account_id}", "Revoke a service account that has no more grants than the caller: its token stops working", Spec{
		ID: "revoke-service-account", Kind: serviceAccounts, Capability: vocab.CapServiceAccountRevoke, WhenCancelled: true,
	})
)
