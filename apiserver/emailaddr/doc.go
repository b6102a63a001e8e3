// Package emailaddr validates mailbox addresses and brings them to one
// canonical form, so that the API server and the Terraform provider agree on
// when two spellings mean the same mailbox.
//
// It takes the plain addr-spec that a mailbox of the service can have, and
// neither the display names and comments of RFC 5322 nor the quoted local parts
// and address literals of RFC 5321, which net/mail would let through.
//
// It is pure: no I/O, no state. It may import the standard library and
// apiserver/domainname, and nothing else of this module.
//
// Errors are written for people: they say what is wrong and what is expected,
// and quote at most a short, escaped part of the input.
package emailaddr
