// Package malformed answers requests that are no HTTP in the API's manner. Of
// those net/http asks no handler: it answers them with a line of text.
//
// The package knows the contract, for the form of an error, and the standard
// library.
package malformed
