// Package api is the contract of the account management API: one Go value for
// each operation (id, method, path, success status, capability, request and
// response type) and one Go type for each body.
//
// Routes, decoding, validation, the OpenAPI document and the calls of the typed client all come from
// these values; no path, status code or limit is written elsewhere. A struct tag contains the limit of a
// field (dnsrecord.go contains the bounds of a TTL); only Field reads these tags and checks values by
// them. The Validate method of a request body contains the rules that a tag can't express (rules.go).
//
// A text of a request body has a maxLength, and minLength:"1" if it can be absent, because "" is stored as no
// value. It has format:"name" or, for several lines, a pattern (see SubmitFeedbackBody), because PostgreSQL
// stores no NUL. For a text with a syntax of its own, such as an address, Validate of both bodies calls the rule
// instead. In the body of an update, null removes the value of a Nullable, and leaves any other field unchanged.
//
// The package imports its sibling packages of syntax rules (emailaddr, dnsdata, text) and vocab. It is
// independent of the HTTP framework, to which internal/httpapi binds it, of the service and of the store.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package api
