// Package localcli lets a Terraform or OpenTofu CLI run with a provider that was
// built here: it puts a build of it into a filesystem mirror, and makes an
// environment in which the CLI looks nowhere else and sees none of the user's own
// settings.
//
// It is for the benchmarks and for tests that run a CLI as users do, on its
// init and without the plugin-testing framework. It imports nothing of the provider.
package localcli
