// Package function has the provider's functions: what people who write mail DNS
// get wrong by hand. They need no account and ask nobody; the rules are those of
// maildns and of the syntax packages of apiserver, and this package only reads
// arguments and tells which of them is wrong.
//
// It may import the plugin framework, maildns, and of apiserver domainname and
// emailaddr.
package function
