// Command docs generates docs/ out of the provider's schemas, templates/ and
// examples/, as the registries show it. `go generate` at the top of the
// repository runs it.
//
// It asks the provider for its schemas in process (package schemajson) and has
// HashiCorp's tfplugindocs, a tool of go.mod, write the pages and then check
// them. It needs Go's module cache, and neither a CLI nor a network.
package main
