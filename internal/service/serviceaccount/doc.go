// Package serviceaccount has the resource mailhost_service_account with its data
// sources and list resource, and the ephemeral resource
// mailhost_service_account_token.
package serviceaccount
