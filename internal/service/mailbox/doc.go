// Package mailbox has the resource mailhost_mailbox, its data sources and its list
// resource, and the export of mailboxes: as a data source, and as an action that
// writes a file.
package mailbox
