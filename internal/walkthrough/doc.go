// Package walkthrough tests the examples that consist of several files, as the readers
// of examples/README.md would: it applies the configurations, and runs their tests, their
// scripts and the steps of their pipelines.
//
// It damages the files of an embedded account, and kills the provider, the CLI or the server in
// the middle of a run; make crash does that more often.
//
// It builds the provider and mailhostd, installs them for itself (package localcli), and
// works on copies. With TF_ACC it needs a Terraform or OpenTofu CLI. make demo applies
// examples/quickstart, and internal/examples tests the examples of single types.
package walkthrough
