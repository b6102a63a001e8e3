// Package examples tests everything that users copy: the folders of examples/, and the
// configurations on the pages of docs/ and in the README.
//
// The tests validate each configuration with the provider's schemas and through the plugin
// protocol, without a CLI. With TF_ACC they also apply the examples of single types with the real
// CLI, plan again and destroy, as far as the CLI supports them, import with the ids of the import
// examples, and check that the capabilities of the permissions guide are sufficient.
//
// Examples of several files are tested as readers of examples/README.md use them: on copies, the
// tests apply their configurations and run their tests, scripts and the steps of their pipelines,
// with the provider and mailhostd built and installed for the tests (package localcli). Some tests
// damage the files of an embedded account, or kill the provider, the CLI or the server in the middle
// of a run; make crash does that more often.
package examples
