// Package examples tests everything that users copy: the folders of examples/,
// and the configurations that the pages of docs/ and the README show.
//
// The tests validate each configuration with the provider's schemas and through the
// plugin protocol, without a CLI. With TF_ACC they also apply the examples with the real
// CLI, plan again and destroy, as far as the CLI supports them, import with the ids of
// the import examples, and follow the getting-started guide. They check that the
// capabilities of the permissions guide are sufficient.
package examples
