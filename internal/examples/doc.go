// Package examples tests everything that users copy: the folders of examples/,
// and the configurations that the pages of docs/ and the README show.
//
// Each is read with the provider's schemas and validated through the protocol, on
// any CLI and without one, so that an example that has become stale fails
// everywhere. With TF_ACC the examples of resources, data sources, functions and
// ephemeral resources are also applied, planned again and destroyed through the
// real CLI, and those of actions and list resources where the CLI knows them; the
// ids in import examples are used for real imports. What the guides for getting
// started and on permissions promise is tried.
//
// The package has tests alone.
package examples
