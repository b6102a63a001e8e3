// Command bench compares the product with others on this machine and prints one table:
// `make bench` runs it.
//
// Each figure is a ratio of two measurements of the same run, taken in turn (A B A B), so
// that the machine's speed and load cancel out. The table shows the target beside each
// ratio and judges nothing.
//
// The other sides are the CLI's own terraform_data, the provider hashicorp/null and the
// server PocketBase. The last two are built from Go's module proxy, in a temporary module
// of their own; if that fails, their rows say so and the others are measured all the same.
// -null names a build of hashicorp/null to use instead.
//
// Everything is written below a temporary folder, except the table. The servers listen on
// loopback only.
package main
