// Package malformed responds to requests that no handler sees in the API's form.
//
// net/http writes the responses to requests that are not HTTP by itself, as a line
// of text, and those to unknown expectations without a body. Listener and
// TLSListener replace both on their way to the client. http.Server must have a
// *tls.Conn for HTTP/2 only, so TLSListener does the handshakes itself: it passes on
// connections that negotiated HTTP/2 as they are and wraps those of HTTP/1.1. It
// also responds to plain HTTP on the TLS port.
//
// The package imports the contract, for the form of an error, and the standard
// library.
package malformed
