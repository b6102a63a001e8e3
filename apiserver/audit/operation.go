package audit

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

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
