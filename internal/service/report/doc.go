// Package report words what the provider says about a failure: an error at the attribute that the
// API named, with the API's message, status and request id, and with the next step for the user.
//
//	error.go     an error of the client as diagnostics, and the advice for each kind of error
//	incident.go  an error that concerns the whole connection, in full once per walk
//	text.go      sentences, lists, and the import block of an object that exists
package report
