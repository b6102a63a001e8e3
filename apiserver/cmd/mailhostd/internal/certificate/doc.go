// Package certificate keeps the server's TLS certificate: it reads a pair of
// files, and takes what replaces them without a restart.
//
// The package knows the standard library alone.
package certificate
