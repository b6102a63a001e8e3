// Package schemajson tells what the provider offers in the form that
// `terraform providers schema -json` has.
//
// A CLI writes only what its own version knows: Terraform 1.11 leaves out
// identities, list resources and actions. This package asks the provider itself,
// through the protocol, and so it is complete with any CLI, and without one. The
// documentation is generated from it, and the tests of the examples read them
// with it.
//
// It is for tools and tests: main.go does not link it.
package schemajson
