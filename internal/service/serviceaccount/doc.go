// Package serviceaccount has the resource mailhost_service_account.
package serviceaccount
