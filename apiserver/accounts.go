package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/account"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// Accounts returns the ids of all accounts, by creation time.
func (s *Service) Accounts(ctx context.Context) ([]string, error) {
	return store.Read(ctx, s.rules.Store, accountIDs)
}

func accountIDs(r store.Reader) (ids []string, err error) {
	accounts, err := r.Accounts()
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	return ids, err
}

// EnsureAccount returns the id of an account, and creates the account if it does not exist. An
// empty id means the only account of the store, and is an error if there are several.
func (s *Service) EnsureAccount(ctx context.Context, id string) (found string, err error) {
	if id != "" && !api.IsID(id) {
		return "", notAnID(id)
	}
	id = api.CanonicalID(id)
	found, err = store.Read(ctx, s.rules.Store, func(r store.Reader) (string, error) { return findAccount(r, id) })
	if err != nil || found != "" {
		return found, err
	}
	err = s.rules.Store.Update(ctx, func(tx store.Tx) error {
		if found, err = findAccount(tx, id); err != nil || found != "" {
			return err // another process created it
		}
		audit.Attribute(tx, audit.Operator(""), audit.EnsureAccount)
		found = cmp.Or(id, s.rules.Random.ID())
		return account.CreateAccount(tx, account.NewAccount(found, s.rules.Now()), account.DefaultIPOptions(found))
	})
	return found, err
}

// findAccount returns an account's id, or "" if it does not exist. An empty id means the only
// account.
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

// AccountInUseError reports that InitAccount found a working service account.
type AccountInUseError struct {
	AccountID string
}

func (e *AccountInUseError) Error() string {
	return "the account " + e.AccountID + " exists already and has a service account that works"
}

// InitAccount creates an account with its owner's service account and returns the service account's
// token, which can't be read again. An empty id means a new one. In an existing account it creates
// only the service account, or returns an *AccountInUseError if one works.
func (s *Service) InitAccount(ctx context.Context, id, tokenName string) (accountID, token string, err error) {
	return s.initAccount(ctx, id, tokenName, "")
}

// InitAccountWithToken is InitAccount with a token that a test chose.
func (s *Service) InitAccountWithToken(ctx context.Context, id, tokenName, token string) (accountID string, err error) {
	accountID, _, err = s.initAccount(ctx, id, tokenName, token)
	return accountID, err
}

func (s *Service) initAccount(ctx context.Context, id, tokenName, chosen string) (accountID, token string, err error) {
	if id = cmp.Or(id, s.rules.Random.ID()); !api.IsID(id) {
		return "", "", notAnID(id)
	}
	id = api.CanonicalID(id)
	owner := auth.NewToken(s.rules.Random)
	if chosen != "" {
		if owner, err = auth.ChosenToken(chosen); err != nil {
			return id, "", err
		}
	}
	err = s.rules.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(""), audit.InitAccount)
		_, err := tx.Account(id)
		if errors.Is(err, store.ErrNotFound) {
			err = account.CreateAccount(tx, account.NewAccount(id, s.rules.Now()), account.DefaultIPOptions(id))
		} else if err == nil {
			err = refuseInUse(tx, id, s.rules.Now())
		}
		if err != nil {
			return err
		}
		return s.createOwner(tx, owner, id, tokenName)
	})
	return id, owner.String(), err
}

// EraseAccount deletes an account with its contents, for tests.
func (s *Service) EraseAccount(ctx context.Context, id string) error {
	return s.deleteAccount(ctx, id, "", true)
}

// DeleteAccount deletes an account without domains and dedicated IPs. The audit log keeps its
// entries, and gets an entry with the operator's name.
func (s *Service) DeleteAccount(ctx context.Context, id, operator string) error {
	return s.deleteAccount(ctx, id, operator, false)
}

func (s *Service) deleteAccount(ctx context.Context, id, operator string, erase bool) error {
	id = api.CanonicalID(id)
	return s.rules.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(operator), audit.DeleteAccount)
		if err := audit.AsSystem(tx, audit.ExpirePurchase, func() error { return account.DeleteOverdue(tx, id, "", s.rules.Now()) }); err != nil {
			return err
		}
		domains, _, err := tx.Domains(id, store.DomainFilter{}, store.All)
		if err != nil {
			return err
		}
		ips, _, err := tx.DedicatedIPs(id, store.DedicatedIPFilter{}, store.All)
		if err != nil {
			return err
		}
		if !erase && len(domains)+len(ips) > 0 {
			return fmt.Errorf("the account %s still has domains (%d) or dedicated IPs (%d); delete and release them first: nothing was deleted", id, len(domains), len(ips))
		}
		err = account.DeleteDomains(tx, domains, s.rules.Now())
		for _, ip := range ips {
			err = cmp.Or(err, store.Delete[store.DedicatedIP](tx, id, ip.ID, s.rules.Now()))
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

// refuseInUse returns an *AccountInUseError if a working service account is an owner or super_admin.
func refuseInUse(r store.Reader, accountID string, now time.Time) error {
	grants, err := r.Authorizations(accountID, store.AuthorizationFilter{SubjectType: vocab.SubjectServiceAccount})
	for _, g := range grants {
		if g.GrantKind == vocab.GrantCapability {
			continue
		}
		subject, err := store.Get[store.ServiceAccount](r, accountID, g.SubjectID)
		if err != nil {
			return err
		}
		if auth.CheckServiceAccount(subject, now) == nil {
			return &AccountInUseError{AccountID: accountID}
		}
	}
	return err
}

// LogRestore logs in every account that the operator restored a backup.
func (s *Service) LogRestore(ctx context.Context, operator string) error {
	return s.rules.Store.Update(ctx, func(tx store.Tx) error {
		return s.logInEveryAccount(tx, operator, audit.RestoreBackup, store.AuditRestored)
	})
}

// logInEveryAccount logs an operation of which audit.NewStore observes no change.
func (s *Service) logInEveryAccount(tx store.Tx, operator string, operation audit.Operation, action string) error {
	ids, err := accountIDs(tx)
	for _, id := range ids {
		err = cmp.Or(err, tx.AddAuditEntry(&store.AuditEntry{
			AccountID: id, CreatedAt: s.rules.Now(), Operation: string(operation), Subject: audit.Operator(operator),
			Changes: []store.AuditChange{{Action: action, Type: "account", ID: id}},
		}))
	}
	return err
}

// ClockOffset returns by how much the database server's clock is ahead of this machine's; 0 for a file.
func (s *Service) ClockOffset(ctx context.Context) (time.Duration, error) {
	return s.rules.Store.ClockOffset(ctx)
}

// FutureTimes returns the tables with times that RepairTimes would repair, and reports whether the clock of this
// machine is probably behind instead, as store.Reader.MostlyFuture describes.
func (s *Service) FutureTimes(ctx context.Context) (found []store.FutureTimes, behind bool, err error) {
	return found, behind, s.rules.Store.View(ctx, func(r store.Reader) error {
		if found, err = r.FutureTimes(s.rules.Now()); err != nil {
			return err
		}
		behind, err = r.MostlyFuture(s.rules.Now())
		return err
	})
}

// RepairTimes sets the times that a server whose clock was ahead wrote to now, as store.Tx.RepairTimes describes,
// and logs it in every account.
func (s *Service) RepairTimes(ctx context.Context, operator string) (repaired []store.FutureTimes, err error) {
	return repaired, s.rules.Store.Update(ctx, func(tx store.Tx) error {
		if repaired, err = tx.RepairTimes(s.rules.Now()); err != nil || len(repaired) == 0 {
			return err
		}
		return s.logInEveryAccount(tx, operator, audit.RepairTimes, store.AuditUpdated)
	})
}

// IssueOwnerToken creates a service account with the grants of the account's owner and returns its
// token.
func (s *Service) IssueOwnerToken(ctx context.Context, accountID, name string) (token string, err error) {
	owner := auth.NewToken(s.rules.Random)
	err = s.rules.Store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator(""), audit.IssueOwnerToken)
		return s.createOwner(tx, owner, api.CanonicalID(accountID), name)
	})
	return owner.String(), err
}

// createOwner creates a service account with all grants of its account's owner.
func (s *Service) createOwner(tx store.Tx, token auth.Token, accountID, name string) error {
	o := auth.NewServiceAccount(token, s.rules.Random.ID(), accountID, name, s.rules.Now())
	o.CreatedByUserID = auth.OwnerSubject(o.AccountID).ID
	if err := tx.Create(&o); err != nil {
		return err
	}
	return account.GrantOwner(tx, s.rules.Random.ID(), o.AccountID, store.Subject{Type: vocab.SubjectServiceAccount, ID: o.ID}, s.rules.Now())
}
