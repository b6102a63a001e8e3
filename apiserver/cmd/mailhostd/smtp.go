package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/mailer"
)

// smtpFlags say how messages are sent.
type smtpFlags struct {
	SMTPURL  string `name:"smtp-url" placeholder:"URL" help:"Mail server that verification messages are sent through: smtp://[user:password@]host[:port] with STARTTLS, or smtps://… with TLS from the start. ?tls=none sends without encryption. A password is better off in the variable than on the command line. Default: none; messages are only in the outbox of the control plane."`
	SMTPFrom string `name:"smtp-from" placeholder:"ADDRESS" help:"Sender of messages, with a name or without, for instance Mailhost <no-reply@example.com>; required with --smtp-url."`
}

// validate returns what makes no sense in the flags.
func (f smtpFlags) validate() error {
	switch {
	case f.SMTPURL == "" && f.SMTPFrom != "":
		return errors.New("--smtp-from: needs --smtp-url")
	case f.SMTPURL != "" && f.SMTPFrom == "":
		return errors.New("--smtp-from: is required with --smtp-url")
	}
	_, err := f.courier()
	return err
}

// courier returns what sends messages, and nil where nothing does.
func (f smtpFlags) courier() (*mailer.Mailer, error) {
	if f.SMTPURL == "" {
		return nil, nil
	}
	m, err := mailer.New(mailer.Options{URL: f.SMTPURL, From: f.SMTPFrom})
	if err != nil {
		return nil, fmt.Errorf("--smtp-%w", err)
	}
	return m, nil
}

// announceMail logs what becomes of messages.
func announceMail(log *slog.Logger, courier *mailer.Mailer, outbox bool) {
	switch {
	case courier != nil:
		log.Info("sending messages", "server", courier.Server(), "from", courier.From())
	case outbox:
		log.Info("messages are not sent, and are in the outbox of the control plane")
	default:
		log.Warn("messages are not sent, so that no forwarding to other accounts can be verified; set --smtp-url")
	}
}
