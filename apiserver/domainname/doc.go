// Package domainname validates domain names and brings them to one canonical
// ASCII form, so that the API server and the Terraform provider agree on when
// two spellings mean the same name.
//
// It is pure: no I/O, no state. It may import the standard library,
// golang.org/x/net/idna, golang.org/x/net/publicsuffix and golang.org/x/text, and
// nothing of this module.
//
// Errors are written for people: they say what is wrong and what is expected,
// and quote at most a short, escaped part of the input.
package domainname
