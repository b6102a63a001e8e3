// Package provider is the Terraform provider: its settings, the connection to their account, and the
// registration of its resources, data sources, actions and functions.
//
// It connects the resources (internal/service/...), the typed client and, for an embedded account, the
// API server with its SQLite store.
package provider
