// Package maildns writes what a mail domain publishes in the DNS and beside it:
// SPF, DMARC, DKIM, MTA-STS and TLS-RPT records, the MTA-STS policy, and the
// strings of a TXT record.
//
// Each kind of record is a struct that says what the record is to hold, with a
// method that checks all of it against the kind's RFC and writes it. What the
// RFC merely advises against, but nobody means who knows what it does, is
// refused too: ptr in SPF, for instance. What only a look-up could tell, such as
// the look-ups of an included policy, is not known here.
//
// It is pure: no I/O, no state, and nothing of Terraform. It may import the
// standard library and the syntax packages of apiserver: domainname, emailaddr
// and dnsdata.
//
// An error is [Problems], every problem of a record at once. It is written for
// people: it says what is wrong and what is expected, and quotes at most a short,
// escaped part of the input, and nothing at all of a key.
package maildns
