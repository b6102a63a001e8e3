// Package acctest is what the acceptance tests share: a server of their own for
// each test, in process on loopback, and the provider that talks to it.
//
// The tests run through the real Terraform or OpenTofu CLI, on the condition of
// TF_ACC that plugin-testing sets. They run a second time against a server that
// has the published operations only, see Modes.
package acctest
