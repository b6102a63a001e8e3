// Package mailbox has the resource mailhost_mailbox.
package mailbox
