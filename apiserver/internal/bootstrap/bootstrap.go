// Package bootstrap creates accounts and the first credentials in them. The API has no
// operation for that: the embedder of a service, an operator or a fixture does it.
package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Accounts creates accounts in a store. apiserver.Service describes its methods.
type Accounts struct{ account.Dependencies }

// OwnerGrantID returns the id of the grant that every account comes with.
func OwnerGrantID(accountID string) string { return api.DerivedID(accountID, "authorization:owner") }

// DefaultWorkspace is the name of the workspace that every account comes with.
const DefaultWorkspace = "Default"

const addressesPerOption = 16

// DefaultOptions returns the dedicated IPs that an account can claim unless a fixture has
// others: the first addresses of two documentation ranges (RFC 5737).
func DefaultOptions(accountID string) []store.DedicatedIPOption {
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

// CreateAccount creates an account with everything that it comes with, and dedicated IP options.
func CreateAccount(tx store.Tx, a store.Account, options []store.DedicatedIPOption) error {
	if err := tx.Create(&a); err != nil {
		return err
	}
	if err := tx.Create(&store.Workspace{ID: api.DefaultWorkspaceID(a.ID), AccountID: a.ID, Name: DefaultWorkspace, CreatedAt: a.CreatedAt}); err != nil {
		return err
	}
	if err := grantOwner(tx, OwnerGrantID(a.ID), a.ID, auth.OwnerSubject(a.ID), a.CreatedAt); err != nil {
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

func grantOwner(tx store.Tx, id, accountID string, s store.Subject, at time.Time) error {
	return tx.Create(&store.Authorization{
		ID: id, AccountID: accountID, GrantKind: vocab.GrantAccountOwner, SubjectType: s.Type, SubjectID: s.ID, CreatedAt: at,
	})
}

// IDs returns the ids of all accounts, by creation time.
func (a Accounts) IDs(ctx context.Context) ([]string, error) {
	return store.Read(ctx, a.Store, accountIDs)
}

func accountIDs(r store.Reader) (ids []string, err error) {
	accounts, err := r.Accounts()
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	return ids, err
}

// Ensure is apiserver.Service.EnsureAccount.
func (a Accounts) Ensure(ctx context.Context, id string) (found string, err error) {
	if id != "" && !api.IsID(id) {
		return "", notAnID(id)
	}
	id = api.CanonicalID(id)
	found, err = store.Read(ctx, a.Store, func(r store.Reader) (string, error) { return findAccount(r, id) })
	if err != nil || found != "" {
		return found, err
	}
	err = a.Store.Update(ctx, func(tx store.Tx) error {
		if found, err = findAccount(tx, id); err != nil || found != "" {
			return err // another process has created it
		}
		audit.Attribute(tx, audit.Operator(""), audit.EnsureAccount)
		found = cmp.Or(id, a.Random.ID())
		return CreateAccount(tx, NewAccount(found, a.Now()), DefaultOptions(found))
	})
	return found, err
}

// findAccount returns an account's id, or that of the only one for an empty id, and "" if there
// is none.
func findAccount(r store.Reader, id string) (string, error) {
	if id != "" {
		a, err := r.Account(id)
		if errors.Is(err, store.ErrNotFound) {
			return "", nil
		}
		return a.ID, err
	}
	ids, err := accountIDs(r)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	if len(ids) > 1 {
		return "", fmt.Errorf("the database holds several accounts; say by account_id which one is meant: %v", ids)
	}
	return ids[0], nil
}

func notAnID(id string) error { return fmt.Errorf("the account id %.64q is not a UUID", id) }

// AccountInUseError means that the account exists and has a service account that works.
type AccountInUseError struct {
	AccountID string
}

func (e *AccountInUseError) Error() string {
	return "the account " + e.AccountID + " exists already and has a service account that works"
}

// Init is apiserver.Service.InitAccount, with a chosen token unless that is empty.
func (a Accounts) Init(ctx context.Context, id, tokenName, chosen string) (accountID, token string, err error) {
	if id = cmp.Or(id, a.Random.ID()); !api.IsID(id) {
		return "", "", notAnID(id)
	}
	id = api.CanonicalID(id)
	owner := auth.NewToken(a.Random)
	if chosen != "" {
		if owner, err = auth.ChosenToken(chosen); err != nil {
			return id, "", err
		}
	}
	err = a.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(""), audit.InitAccount)
		_, err := tx.Account(id)
		if errors.Is(err, store.ErrNotFound) {
			err = CreateAccount(tx, NewAccount(id, a.Now()), DefaultOptions(id))
		} else if err == nil {
			err = refuseInUse(tx, id, a.Now())
		}
		if err != nil {
			return err
		}
		return a.createOwner(tx, owner, id, tokenName)
	})
	return id, owner.String(), err
}

// Delete is apiserver.Service.DeleteAccount, or EraseAccount if the account need not be empty.
func (a Accounts) Delete(ctx context.Context, id, operator string, erase bool) error {
	id = api.CanonicalID(id)
	return a.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(operator), audit.DeleteAccount)
		if err := audit.AsSystem(tx, audit.ExpirePurchase, func() error { return account.DeleteOverdue(tx, id, "", a.Now()) }); err != nil {
			return err
		}
		domains, _, err := tx.Domains(id, store.DomainFilter{}, everything)
		if err != nil {
			return err
		}
		ips, _, err := tx.DedicatedIPs(id, store.DedicatedIPFilter{}, everything)
		if err != nil {
			return err
		}
		if !erase && len(domains)+len(ips) > 0 {
			return fmt.Errorf("the account %s still has domains (%d) or dedicated IPs (%d); delete and release them first: nothing was deleted", id, len(domains), len(ips))
		}
		err = account.DeleteDomains(tx, domains, a.Now())
		for _, ip := range ips {
			err = cmp.Or(err, store.Delete[store.DedicatedIP](tx, id, ip.ID, a.Now()))
		}
		if err == nil {
			err = tx.DeleteAccount(id)
		}
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("there is no account %s", id)
		}
		return err
	})
}

var everything = store.Slice{Limit: math.MaxInt32}

// refuseInUse returns an *AccountInUseError if a service account works and may do everything.
func refuseInUse(r store.Reader, accountID string, now time.Time) error {
	for _, kind := range []string{vocab.GrantAccountOwner, vocab.GrantSuperAdmin} {
		grants, err := r.Authorizations(accountID, store.AuthorizationFilter{SubjectType: vocab.SubjectServiceAccount, GrantKind: kind})
		if err != nil {
			return err
		}
		for _, g := range grants {
			subject, err := store.Get[store.ServiceAccount](r, accountID, g.SubjectID)
			if err != nil {
				return err
			}
			if auth.CheckServiceAccount(subject, now) == nil {
				return &AccountInUseError{AccountID: accountID}
			}
		}
	}
	return nil
}

// LogRestore is apiserver.Service.LogRestore.
func (a Accounts) LogRestore(ctx context.Context, operator string) error {
	return a.Store.Update(ctx, func(tx store.Tx) error {
		ids, err := accountIDs(tx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			// No object changes, so that the log has no entry by itself.
			if err := tx.AddAuditEntry(&store.AuditEntry{
				AccountID: id, CreatedAt: a.Now(), Operation: string(audit.RestoreBackup), Subject: audit.Operator(operator),
				Changes: []store.AuditChange{{Action: store.AuditRestored, Type: "account", ID: id}},
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// IssueOwnerToken is apiserver.Service.IssueOwnerToken.
func (a Accounts) IssueOwnerToken(ctx context.Context, accountID, name string) (token string, err error) {
	owner := auth.NewToken(a.Random)
	err = a.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(""), audit.IssueOwnerToken)
		return a.createOwner(tx, owner, api.CanonicalID(accountID), name)
	})
	return owner.String(), err
}

// createOwner creates a service account with all grants of its account's owner.
func (a Accounts) createOwner(tx store.Tx, token auth.Token, accountID, name string) error {
	s := auth.NewServiceAccount(token, a.Random.ID(), accountID, name, a.Now())
	s.CreatedByUserID = auth.OwnerSubject(s.AccountID).ID
	if err := tx.Create(&s); err != nil {
		return err
	}
	return grantOwner(tx, a.Random.ID(), s.AccountID, store.Subject{Type: vocab.SubjectServiceAccount, ID: s.ID}, a.Now())
}
