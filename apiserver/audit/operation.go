package audit

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

// Operation is an operation that changes an account and is not part of the API.
type Operation int

// The operations that are not part of the API.
const (
	EnsureAccount Operation = iota
	InitAccount
	IssueOwnerToken
	LoadFixture
	ConfirmForwarding
	SettlePayment
	ExpirePurchase
	Reset

	operationCount
)

var operationNames = [operationCount]string{
	EnsureAccount:     "ensure-account",
	InitAccount:       "init-account",
	IssueOwnerToken:   "issue-owner-token",
	LoadFixture:       "load-fixture",
	ConfirmForwarding: "confirm-forwarding",
	SettlePayment:     "settle-payment",
	ExpirePurchase:    "expire-purchase",
	Reset:             "reset",
}

// String returns the operation's name in the log.
func (o Operation) String() string { return operationNames[o] }

// Operations returns every operation that an entry can have, those of the API first.
func Operations() []string {
	var names []string
	for _, spec := range api.Specs() {
		if spec.Changes() {
			names = append(names, spec.ID)
		}
	}
	return append(names, operationNames[:]...)
}
