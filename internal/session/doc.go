// Package session holds the connection of one provider configuration: a typed
// client that is opened when it is first needed, because Terraform starts a
// provider several times for each command and often asks it nothing.
//
// It imports the typed client alone.
package session
