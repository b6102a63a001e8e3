package audit

import "github.com/mailhost/terraform-provider-mailhost/apiserver/store"

// Origin is where the changes of a transaction come from.
type Origin struct {
	// Operation is the id of the API's operation that makes them; empty where
	// none does.
	Operation string
	// Subject is who makes them; the zero value where the context does not say.
	Subject store.AuditSubject
	// RequestID and RemoteAddress are empty where there is no request, or none
	// over a network.
	RequestID, RemoteAddress string
	// Fields are the names of those that the request sets of what it updates.
	Fields []string
}

// The subjects of changes beside those that a grant can name.
var (
	// Operator has the database in their hands.
	Operator = store.AuditSubject{Type: "operator"}
	// System is the service itself.
	System = store.AuditSubject{Type: "system"}
	// ControlPlane is whoever reaches it.
	ControlPlane = store.AuditSubject{Type: "control_plane"}
)

// Recipient is who got a message, known by its address.
func Recipient(address string) store.AuditSubject {
	return store.AuditSubject{Type: "recipient", ID: address}
}

// Attribute says what a transaction of NewStore's does where that is no
// operation of the API; fields are the names of those that it sets of what it
// updates. It is done by who, unless the origin of the transaction's context has
// a subject. With any other transaction Attribute panics.
func Attribute(tx store.Tx, who store.AuditSubject, operation Operation, fields ...string) {
	tx.(*auditedTx).attributed = Origin{Subject: who, Operation: operation.String(), Fields: fields}
}
