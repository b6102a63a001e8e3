// Package session holds the connection of one provider configuration: a typed
// client that is opened when it is first needed, because Terraform starts a
// provider several times for each command and often asks it nothing.
//
// It also keeps what has to be cleared away when the provider ends because
// Terraform, after a failure or an interruption, does not come to it.
//
// It records as well what the walk that it serves has seen, see [Walk].
//
// It imports the typed client alone.
package session
