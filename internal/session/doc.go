// Package session holds the connection of one provider configuration. It opens the
// typed client on first use, because Terraform starts a provider several times per
// command and often sends it no request.
//
// A session also keeps the cleanups to run when the provider ends, because Terraform
// does not close ephemeral resources after a failure or an interruption, and a
// [Walk], which records the objects of one walk of Terraform's core.
//
// The package imports only the typed client.
package session
