// Package mailer sends the service's messages over SMTP: it is the
// apiserver.Courier of the standalone server.
//
// New takes the URL of a mail server and the sender's address; Send hands one
// message to that server, on a connection of its own. The message's form (RFC
// 5322, MIME) and the protocol (RFC 5321) are go-mail's; what is encrypted, which
// failures are for good and what may stand in an address are decided here.
//
// The package imports apiserver for the interface and emailaddr for addresses.
// Package smtptest beside it is a mail server for tests.
package mailer
