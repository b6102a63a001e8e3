// Package api is the contract of the account management API: one Go value for
// each operation (id, method, path, success status, capability, request and
// response type) and one Go type for each body.
//
// Routes, decoding, validation, the OpenAPI document and the typed client's
// calls all come from these values; no path, status code or limit is written
// anywhere else. A limit of a field is a struct tag at that field (a DNS
// record's TTL bounds are in dnsrecord.go), which only Field reads, and by which it
// checks values; a rule that a tag can't express is in the Validate method of the
// request (rules.go).
//
// The package imports the syntax packages beside it (emailaddr, dnsdata, text) and
// vocab. It knows no HTTP framework, which is bound to it in internal/httpapi, and
// neither the service nor the store.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package api
