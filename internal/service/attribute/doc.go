// Package attribute builds the attributes of resources and data sources from the API's contract, and
// copies values between a response, a model and a plan.
//
//	schema.go    attributes from the fields of a response, with the contract's descriptions; arguments from the
//	             fields of a body, with its limits
//	filter.go    arguments of data sources and list resources from the query parameters of a list
//	scope.go     the arguments of an object that applies to a domain, a workspace or the account
//	timeouts.go  the attribute timeouts
//	keep.go      plan modifiers that keep the prior spelling of a value; comparisons of values
//	flatten.go   a response as values of a model or a state
//	raw.go       the attributes of a plan or a state as core sent them
package attribute
