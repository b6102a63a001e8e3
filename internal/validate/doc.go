// Package validate has the validators of the provider's schemas. Their limits
// come from the API's contract, so that a plan refuses what the API would
// refuse, without a limit written twice.
//
// A validator leaves a null or unknown value alone. What it says names the
// attribute, and tells nothing of the value of an attribute that is sensitive
// or write-only. Its description completes "must be ...", plain or in Markdown,
// so that a schema can use it in its documentation.
//
// The package may import the plugin framework and, of this module,
// apiserver/api and apiserver/text.
package validate
