// Package walkthrough goes through the examples that are more than one file: it
// applies the configurations, runs their tests and their scripts, and the steps of
// their pipelines, as the readers of examples/README.md would.
//
// It builds the provider and mailhostd and installs them for itself (package
// localcli); everything runs in copies. With TF_ACC it needs a Terraform or
// OpenTofu CLI, which the steps of each example then go through. examples/quickstart
// is the demo's (internal/demo), and the examples of single types are those of
// internal/examples.
//
// The package has tests alone.
package walkthrough
