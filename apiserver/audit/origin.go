package audit

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// Origin describes the cause of a transaction's changes.
type Origin struct {
	// Operation is the id of the API operation, or empty.
	Operation string
	// Subject makes the changes, the zero value if unknown.
	Subject store.AuditSubject
	// SubjectDetails describe the job of a workload; nil for other subjects.
	SubjectDetails map[string]string
	// RequestID and RemoteAddress are empty without a request or a network.
	RequestID, RemoteAddress string
	// Arrival is when the request arrived, or the zero time.
	Arrival time.Time
	// Fields lists the fields of an object that the request sets.
	Fields []string
}

// Subjects of changes that no grant can contain.
var (
	// System is the service itself.
	System = store.AuditSubject{Type: "system"}
	// ControlPlane is a client of the control plane.
	ControlPlane = store.AuditSubject{Type: "control_plane"}
)

// Operator returns the subject for a person with access to the database. name may be empty.
func Operator(name string) store.AuditSubject {
	return store.AuditSubject{Type: "operator", Name: name}
}

// Recipient returns the subject for the recipient of a message.
func Recipient(address string) store.AuditSubject {
	return store.AuditSubject{Type: "recipient", ID: address}
}

// Attribute sets the operation of a transaction outside of the API, and the fields that it sets.
// Its subject is who, unless the context's origin contains a subject. It panics if tx is not
// NewStore's.
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

// Operation is the name of an operation outside of the API that changes an account.
type Operation string

// The operations outside of the API.
const (
	EnsureAccount     Operation = "ensure-account"
	InitAccount       Operation = "init-account"
	DeleteAccount     Operation = "delete-account"
	IssueOwnerToken   Operation = "issue-owner-token"
	RestoreBackup     Operation = "restore-backup"
	RepairTimes       Operation = "repair-times"
	LoadFixture       Operation = "load-fixture"
	ConfirmForwarding Operation = "confirm-forwarding"
	SettlePayment     Operation = "settle-payment"
	ExpirePurchase    Operation = "expire-purchase"
	Reset             Operation = "reset"
)

// Operations returns every operation of entries, the API's operations first.
func Operations() []string {
	var names []string
	for _, spec := range api.Specs() {
		if spec.Changes() {
			names = append(names, spec.ID)
		}
	}
	for _, o := range []Operation{
		EnsureAccount, InitAccount, DeleteAccount, IssueOwnerToken, RestoreBackup, RepairTimes, LoadFixture, ConfirmForwarding, SettlePayment, ExpirePurchase, Reset,
	} {
		names = append(names, string(o))
	}
	return names
}
