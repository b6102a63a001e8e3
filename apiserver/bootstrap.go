package apiserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// derivedID returns the UUIDv5 by which something of an account can be named
// without asking for it.
func derivedID(accountID, name string) string {
	return uuid.NewSHA1(uuid.MustParse(accountID), []byte(name)).String()
}

// DefaultWorkspaceID returns the id of the workspace that every account is born
// with. accountID must be a UUID.
func DefaultWorkspaceID(accountID string) string { return derivedID(accountID, "workspace:default") }

func ownerID(accountID string) string { return derivedID(accountID, "user:owner") }

func ownerSubject(accountID string) store.Subject {
	return store.Subject{Type: api.SubjectUser, ID: ownerID(accountID)}
}

// defaultOptions is the inventory of dedicated IPs that an account is born with:
// the first addresses of two documentation ranges (RFC 5737).
var defaultOptions = []struct {
	key, name, country, network string
	asn                         int64
}{
	{"eu", "Europe", "DE", "198.51.100", 64496},
	{"us", "United States", "US", "203.0.113", 64497},
}

const addressesPerOption = 16

// EnsureAccount makes sure that an account exists and returns its id. With an
// empty id it takes the account that the store has, makes one where it has none,
// and fails where it has several, naming them.
func (s *Service) EnsureAccount(ctx context.Context, id string) (string, error) {
	if id != "" && !isID(id) {
		return "", fmt.Errorf("the account id %q is not a UUID", id)
	}
	id = canonicalID(id)
	var found string
	look := func(r store.Reader) (err error) {
		found, err = chooseAccount(r, id)
		return err
	}
	if err := s.store.View(ctx, look); err != nil || found != "" {
		return found, err
	}
	if id == "" {
		id = s.newID()
	}
	at := s.now()
	err := s.store.Update(ctx, func(tx store.Tx) error {
		if err := look(tx); err != nil || found != "" {
			return err // another process was faster
		}
		found = id
		return s.createAccount(tx, store.Account{ID: id, Status: api.AccountActive, PlanID: api.PlanSMTPPerMailbox, CreatedAt: at})
	})
	return found, err
}

func chooseAccount(r store.Reader, id string) (string, error) {
	if id != "" {
		a, err := r.Account(id)
		if errors.Is(err, store.ErrNotFound) {
			return "", nil
		}
		return a.ID, err
	}
	accounts, err := r.Accounts()
	if err != nil || len(accounts) == 0 {
		return "", err
	}
	if len(accounts) > 1 {
		ids := make([]string, len(accounts))
		for i, a := range accounts {
			ids[i] = a.ID
		}
		return "", fmt.Errorf("the database holds several accounts; name one of %v", ids)
	}
	return accounts[0].ID, nil
}

// createAccount makes an account with all that it is born with.
func (s *Service) createAccount(tx store.Tx, a store.Account) error {
	if err := tx.CreateAccount(&a); err != nil {
		return err
	}
	if err := tx.CreateWorkspace(&store.Workspace{ID: DefaultWorkspaceID(a.ID), AccountID: a.ID, Name: "Default", CreatedAt: a.CreatedAt}); err != nil {
		return err
	}
	owner := ownerSubject(a.ID)
	if err := tx.CreateAuthorization(&store.Authorization{
		ID: derivedID(a.ID, "authorization:owner"), AccountID: a.ID, GrantKind: api.GrantAccountOwner,
		SubjectType: owner.Type, SubjectID: owner.ID, CreatedAt: a.CreatedAt,
	}); err != nil {
		return err
	}
	for _, o := range defaultOptions {
		option := store.DedicatedIPOption{
			ID: derivedID(a.ID, "dedicated-ip-option:"+o.key), AccountID: a.ID, Name: o.name, Type: api.DedicatedIPType,
			CountryCode: o.country, ASN: o.asn, CreatedAt: a.CreatedAt,
		}
		for i := range addressesPerOption {
			option.Addresses = append(option.Addresses, fmt.Sprintf("%s.%d", o.network, i+1))
		}
		if err := tx.CreateDedicatedIPOption(&option); err != nil {
			return err
		}
	}
	return nil
}

// IssueOwnerToken makes a service account with all that the account's owner may
// do, and returns its token, which can't be had again.
func (s *Service) IssueOwnerToken(ctx context.Context, accountID, name string) (string, error) {
	token := s.newServiceToken()
	at := s.now()
	id, grantID := s.newID(), s.newID()
	err := s.store.Update(ctx, func(tx store.Tx) error {
		account := newServiceAccount(id, accountID, name, token, at)
		account.CreatedByUserID = ownerID(accountID)
		if err := tx.CreateServiceAccount(&account); err != nil {
			return err
		}
		return tx.CreateAuthorization(&store.Authorization{
			ID: grantID, AccountID: accountID, GrantKind: api.GrantAccountOwner,
			SubjectType: api.SubjectServiceAccount, SubjectID: id, CreatedAt: at,
		})
	})
	return token.String(), err
}
