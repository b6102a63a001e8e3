package account

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// OwnerGrantID returns the id of the grant that every account comes with.
func OwnerGrantID(accountID string) string { return api.DerivedID(accountID, "authorization:owner") }

// DefaultWorkspace is the name of the workspace that every account comes with.
const DefaultWorkspace = "Default"

const addressesPerOption = 16

// DefaultIPOptions returns the dedicated IP options of an account unless a fixture lists others:
// the first addresses of two documentation ranges (RFC 5737).
func DefaultIPOptions(accountID string) []store.DedicatedIPOption {
	options := []store.DedicatedIPOption{
		{ID: api.DerivedID(accountID, "dedicated-ip-option:eu"), Name: "Europe", CountryCode: "DE", ASN: 64496},
		{ID: api.DerivedID(accountID, "dedicated-ip-option:us"), Name: "United States", CountryCode: "US", ASN: 64497},
	}
	for i, network := range []string{"198.51.100", "203.0.113"} {
		o := &options[i]
		o.AccountID, o.Type = accountID, vocab.DedicatedIPType
		for n := range addressesPerOption {
			o.Addresses = append(o.Addresses, fmt.Sprintf("%s.%d", network, n+1))
		}
	}
	return options
}

// NewAccount returns an active account with the first plan.
func NewAccount(id string, at time.Time) store.Account {
	return store.Account{ID: id, Status: vocab.AccountActive, PlanID: vocab.PlanSMTPPerMailbox, CreatedAt: at}
}

// CreateAccount creates an account, the objects that every account comes with, and dedicated IP
// options.
func CreateAccount(tx store.Tx, a store.Account, options []store.DedicatedIPOption) error {
	if err := tx.Create(&a); err != nil {
		return err
	}
	if err := tx.Create(&store.Workspace{ID: api.DefaultWorkspaceID(a.ID), AccountID: a.ID, Name: DefaultWorkspace, CreatedAt: a.CreatedAt}); err != nil {
		return err
	}
	if err := GrantOwner(tx, OwnerGrantID(a.ID), a.ID, auth.OwnerSubject(a.ID), a.CreatedAt); err != nil {
		return err
	}
	for _, o := range options {
		o.CreatedAt = a.CreatedAt
		if err := tx.Create(&o); err != nil {
			return err
		}
	}
	return nil
}

// GrantOwner makes a subject an owner of an account.
func GrantOwner(tx store.Tx, id, accountID string, s store.Subject, at time.Time) error {
	return tx.Create(&store.Authorization{
		ID: id, AccountID: accountID, GrantKind: vocab.GrantAccountOwner, SubjectType: s.Type, SubjectID: s.ID, CreatedAt: at,
	})
}
