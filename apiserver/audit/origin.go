package audit

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Origin describes where the changes of a transaction come from.
type Origin struct {
	// Operation is the id of the API operation, empty if there is none.
	Operation string
	// Subject is who makes the changes, the zero value if the context has none.
	Subject store.AuditSubject
	// RequestID and RemoteAddress are empty without a request or a network.
	RequestID, RemoteAddress string
	// Arrival is when the request arrived; the zero time if there is none.
	Arrival time.Time
	// Fields are the names of the fields that the request sets in an object.
	Fields []string
}

// Subjects of changes that no grant can name.
var (
	// System is the service itself.
	System = store.AuditSubject{Type: "system"}
	// ControlPlane is a client of the control plane.
	ControlPlane = store.AuditSubject{Type: "control_plane"}
)

// Operator returns the subject for a person with access to the database, whose name may be empty.
func Operator(name string) store.AuditSubject {
	return store.AuditSubject{Type: "operator", Name: name}
}

// Recipient returns the subject for the recipient of a message.
func Recipient(address string) store.AuditSubject {
	return store.AuditSubject{Type: "recipient", ID: address}
}

// Attribute sets the operation of a transaction outside of the API, the fields that it sets, and
// its subject, unless the origin of its context has one. It panics if tx is not NewStore's.
func Attribute(tx store.Tx, who store.AuditSubject, operation Operation, fields ...string) {
	tx.(*auditedTx).attributed = Origin{Subject: who, Operation: string(operation), Fields: fields}
}

// AsSystem runs fn and attributes its changes to the service. It panics if tx is not NewStore's.
func AsSystem(tx store.Tx, operation Operation, fn func() error) error {
	t := tx.(*auditedTx)
	t.own = operation
	defer func() { t.own = "" }()
	return fn()
}

// Operation is the name of an operation that changes an account and is not part of the API.
type Operation string

// The operations that are not part of the API.
const (
	EnsureAccount     Operation = "ensure-account"
	InitAccount       Operation = "init-account"
	DeleteAccount     Operation = "delete-account"
	IssueOwnerToken   Operation = "issue-owner-token"
	RestoreBackup     Operation = "restore-backup"
	LoadFixture       Operation = "load-fixture"
	ConfirmForwarding Operation = "confirm-forwarding"
	SettlePayment     Operation = "settle-payment"
	ExpirePurchase    Operation = "expire-purchase"
	Reset             Operation = "reset"
)

// Operations returns every operation that an entry can have, the API's operations first.
func Operations() []string {
	var names []string
	for _, spec := range api.Specs() {
		if spec.Changes() {
			names = append(names, spec.ID)
		}
	}
	for _, o := range []Operation{
		EnsureAccount, InitAccount, DeleteAccount, IssueOwnerToken, RestoreBackup, LoadFixture, ConfirmForwarding, SettlePayment, ExpirePurchase, Reset,
	} {
		names = append(names, string(o))
	}
	return names
}
