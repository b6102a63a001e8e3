// Command demo shows the main job on a machine that has Go and a Terraform or
// OpenTofu CLI: it builds the provider, installs it where the CLI finds it,
// applies a copy of examples/quickstart to an embedded account, and checks that
// a second plan is empty.
//
// Everything that it creates is in .demo at the top of the repository, which git
// ignores. The user's own CLI settings are neither read nor changed. The flag
// -destroy destroys what was applied and removes the folder; -install-cli only
// installs a CLI there, if none is on PATH, for the tests.
package main
