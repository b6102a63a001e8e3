// Package api is the contract of the account management API: one Go value for
// each operation (id, method, path, success status, capability, request and
// response type) and one Go type for each body.
//
// Routes, decoding, validation, the OpenAPI document and the typed client's
// calls all come from these values; no path, status code or limit stands
// anywhere else. A limit of a field is a struct tag at that field (a DNS
// record's TTL bounds are in dnsrecord.go), a rule that a tag can't say is a
// Resolve method beside the type.
//
// The package imports vocab, the syntax packages beside it (emailaddr, dnsdata) and
// huma; it knows neither the service nor the store.
package api
