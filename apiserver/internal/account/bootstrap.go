package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// OwnerGrantID returns the id of the grant that every account comes with.
func OwnerGrantID(accountID string) string { return api.DerivedID(accountID, "authorization:owner") }

// DefaultWorkspace is the name of the workspace that every account comes with.
const DefaultWorkspace = "Default"

const addressesPerOption = 16

// DefaultOptions returns the dedicated IPs that an account can claim unless a
// fixture has others: the first addresses of two documentation ranges
// (RFC 5737).
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

// EnsureAccount makes sure that an account exists and returns its id. With an
// empty id it takes the account that the store has, creates one if there is none,
// and fails if there are several, naming them.
func (rules *Rules) EnsureAccount(ctx context.Context, id string) (string, error) {
	if id != "" && !api.IsID(id) {
		return "", notAnID(id)
	}
	id = api.CanonicalID(id)
	var found string
	look := func(r store.Reader) (err error) {
		found, err = chooseAccount(r, id)
		return err
	}
	if err := rules.store.View(ctx, look); err != nil || found != "" {
		return found, err
	}
	if id == "" {
		id = rules.random.ID()
	}
	at := rules.now()
	err := rules.store.Update(ctx, func(tx store.Tx) error {
		if err := look(tx); err != nil || found != "" {
			return err // another process has created it
		}
		audit.Attribute(tx, audit.Operator, audit.EnsureAccount)
		found = id
		return CreateAccount(tx, NewAccount(id, at), DefaultOptions(id))
	})
	return found, err
}

// Accounts returns the ids of all accounts, by creation time.
func (rules *Rules) Accounts(ctx context.Context) ([]string, error) {
	var ids []string
	err := rules.store.View(ctx, func(r store.Reader) error {
		accounts, err := r.Accounts()
		ids = make([]string, len(accounts))
		for i, a := range accounts {
			ids[i] = a.ID
		}
		return err
	})
	return ids, err
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
		return "", fmt.Errorf("the database holds several accounts; say by account_id which one is meant: %v", ids)
	}
	return accounts[0].ID, nil
}

// AccountInUseError reports that the account of InitAccount exists and has a service
// account that works.
type AccountInUseError struct {
	AccountID string
}

func (e *AccountInUseError) Error() string {
	return "the account " + e.AccountID + " exists already and has a service account that works"
}

// InitAccount creates an account with its owner's service account and returns its
// id and the token, which can't be read again. With an empty id it creates one more
// account. For an account that exists it creates the service account if there is
// none that works, as in an account of a fixture; otherwise it changes nothing and
// returns an *AccountInUseError.
func (rules *Rules) InitAccount(ctx context.Context, id, tokenName string) (accountID, token string, err error) {
	switch {
	case id == "":
		id = rules.random.ID()
	case !api.IsID(id):
		return "", "", notAnID(id)
	}
	id = api.CanonicalID(id)
	at, issued := rules.now(), rules.newOwnerToken(tokenName)
	err = rules.store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator, audit.InitAccount)
		_, err := tx.Account(id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			err = CreateAccount(tx, NewAccount(id, at), DefaultOptions(id))
		case err == nil:
			err = refuseInUse(tx, id, at)
		}
		if err != nil {
			return err
		}
		return issued.create(tx, id, at)
	})
	return id, issued.token.String(), err
}

// refuseInUse returns an *AccountInUseError where the account has a service
// account that works and may do everything: without one nobody could make another.
func refuseInUse(r store.Reader, accountID string, now time.Time) error {
	for offset := 0; ; offset += api.MaxPageSize {
		accounts, _, err := r.ServiceAccounts(accountID, store.Slice{Offset: offset, Limit: api.MaxPageSize})
		if err != nil {
			return err
		}
		for _, a := range accounts {
			if !a.RevokedAt.IsZero() || !a.ExpiresAt.IsZero() && !now.Before(a.ExpiresAt) {
				continue
			}
			grants, err := r.GrantsOf(accountID, []store.Subject{{Type: vocab.SubjectServiceAccount, ID: a.ID}})
			if err != nil {
				return err
			}
			if slices.ContainsFunc(grants, func(g store.Authorization) bool { return g.GrantKind != vocab.GrantCapability }) {
				return &AccountInUseError{AccountID: accountID}
			}
		}
		if len(accounts) < api.MaxPageSize {
			return nil
		}
	}
}

func notAnID(id string) error { return fmt.Errorf("the account id %.64q is not a UUID", id) }

// NewAccount returns an active account with the first plan.
func NewAccount(id string, at time.Time) store.Account {
	return store.Account{ID: id, Status: vocab.AccountActive, PlanID: vocab.PlanSMTPPerMailbox, CreatedAt: at}
}

// CreateAccount creates an account with everything that it comes with, and the dedicated
// IP options that it can claim.
func CreateAccount(tx store.Tx, a store.Account, options []store.DedicatedIPOption) error {
	if err := tx.CreateAccount(&a); err != nil {
		return err
	}
	if err := tx.CreateWorkspace(&store.Workspace{ID: api.DefaultWorkspaceID(a.ID), AccountID: a.ID, Name: DefaultWorkspace, CreatedAt: a.CreatedAt}); err != nil {
		return err
	}
	owner := auth.OwnerSubject(a.ID)
	if err := tx.CreateAuthorization(&store.Authorization{
		ID: OwnerGrantID(a.ID), AccountID: a.ID, GrantKind: vocab.GrantAccountOwner,
		SubjectType: owner.Type, SubjectID: owner.ID, CreatedAt: a.CreatedAt,
	}); err != nil {
		return err
	}
	for _, o := range options {
		o.CreatedAt = a.CreatedAt
		if err := tx.CreateDedicatedIPOption(&o); err != nil {
			return err
		}
	}
	return nil
}

// ownerToken is a new service account with all grants of the account's owner.
type ownerToken struct {
	id, grantID, name string
	token             auth.Token
}

func (rules *Rules) newOwnerToken(name string) ownerToken {
	return ownerToken{id: rules.random.ID(), grantID: rules.random.ID(), name: name, token: auth.NewToken(rules.random)}
}

func (o ownerToken) create(tx store.Tx, accountID string, at time.Time) error {
	account := newServiceAccount(o.id, accountID, o.name, o.token, at)
	account.CreatedByUserID = auth.OwnerSubject(accountID).ID
	if err := tx.CreateServiceAccount(&account); err != nil {
		return err
	}
	return tx.CreateAuthorization(&store.Authorization{
		ID: o.grantID, AccountID: accountID, GrantKind: vocab.GrantAccountOwner,
		SubjectType: vocab.SubjectServiceAccount, SubjectID: o.id, CreatedAt: at,
	})
}

// IssueOwnerToken creates a service account with all grants of the account's owner and
// returns its token, which can't be read again.
func (rules *Rules) IssueOwnerToken(ctx context.Context, accountID, name string) (string, error) {
	at, issued := rules.now(), rules.newOwnerToken(name)
	err := rules.store.Update(ctx, func(tx store.Tx) error {
		audit.Attribute(tx, audit.Operator, audit.IssueOwnerToken)
		return issued.create(tx, accountID, at)
	})
	return issued.token.String(), err
}
