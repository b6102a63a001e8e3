// Package provider is the Terraform provider itself: its settings, which
// account they lead to, and the registration of all that it offers.
//
// It wires together the packages below: the resources (internal/service/...),
// the typed client, and, for an embedded account, the API server with its SQLite
// store.
package provider
