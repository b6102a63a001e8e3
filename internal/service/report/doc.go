// Package report formats failures for users: an error at the attribute that the API named, with the
// API's message, status and request id, and the user's next step.
//
//	error.go     diagnostics for an error of the client, and the advice for each kind of error
//	incident.go  an error that concerns the whole connection, in full once per walk
//	text.go      sentences, lists, and the import block for an existing object
package report
