// Package tracing tells an OpenTelemetry collector how requests were answered,
// over OTLP/HTTP.
//
// Names and attributes follow OpenTelemetry's semantic conventions for HTTP
// servers. No secret is among them: not the query, not a header, and not the
// link of a verification page. The package may import apiserver and the contract
// (api).
package tracing
