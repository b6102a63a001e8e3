package account

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/argon2"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// PasswordCost is the cost of a master password's argon2id hash (RFC 9106). It
// is stored with each hash.
type PasswordCost struct {
	MemoryKiB, Passes uint32
}

// defaultPasswordCost is the recommendation of OWASP.
var defaultPasswordCost = PasswordCost{MemoryKiB: 19 * 1024, Passes: 2}

const (
	argon2Threads   = 1
	argon2KeyBytes  = 32
	argon2SaltBytes = 16
	// argon2Concurrency is how many hashes are computed at once, each in the memory of
	// its cost.
	argon2Concurrency = 4
)

// generatedSecretBytes are 160 bits, 32 characters.
const generatedSecretBytes = 20

// CreateMasterPassword implements api.CreateMasterPassword.
func CreateMasterPassword(c *Call, in *api.CreateMasterPasswordRequest) (*api.CreatedMasterPassword, error) {
	var generated *string
	secret := in.Body.Value
	if in.Body.Generate {
		generated = new(auth.SecretEncoding.EncodeToString(c.rules.random.Bytes(generatedSecretBytes)))
		secret = generated
	}
	// The hash takes long: nobody else's write waits for it, and an unknown scope
	// costs none.
	if _, err := view(c, func(r store.Reader) (store.Scope, error) {
		return c.scopeInBody(r, in.Body.Domain, in.Body.WorkspaceID)
	}); err != nil {
		return nil, err
	}
	hash, err := c.rules.passwords.hash(c.ctx, *secret)
	if err != nil {
		return nil, err
	}
	id := c.rules.random.ID()
	return transact(c, func(tx store.Tx) (*api.CreatedMasterPassword, error) {
		scope, err := c.scopeInBody(tx, in.Body.Domain, in.Body.WorkspaceID)
		if err != nil {
			return nil, err
		}
		p := store.MasterPassword{
			ID: id, AccountID: c.caller.AccountID, Name: in.Body.Name, Scope: scope, SecretHash: hash, CreatedAt: c.at,
		}
		if err := tx.CreateMasterPassword(&p); err != nil {
			return nil, c.masterPasswordConflict(tx, err, p)
		}
		return &api.CreatedMasterPassword{MasterPassword: masterPassword(p), GeneratedSecret: generated}, nil
	})
}

// passwordHasher hashes passwords, a few at a time.
type passwordHasher struct {
	random *random.Source
	cost   PasswordCost
	slots  chan struct{}
}

func newPasswordHasher(source *random.Source, cost PasswordCost) passwordHasher {
	return passwordHasher{random: source, cost: cost, slots: make(chan struct{}, argon2Concurrency)}
}

// hash returns the argon2id hash of a password in PHC string format.
func (h passwordHasher) hash(ctx context.Context, password string) (string, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	salt := h.random.Bytes(argon2SaltBytes)
	key := argon2.IDKey([]byte(password), salt, h.cost.Passes, h.cost.MemoryKiB, argon2Threads, argon2KeyBytes)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.MemoryKiB, h.cost.Passes, argon2Threads, b64(salt), b64(key)), nil
}

func (c *Call) masterPasswordConflict(r store.Reader, err error, p store.MasterPassword) error {
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return api.Conflict("this %s has a master password named %q already%s", p.Scope.Type, p.Name,
			c.naming(r, vocab.CapCredentialView, p.Scope, ", with the id ", exists.ID))
	}
	return statusOf(err, "credential_id", "master password")
}

// ListMasterPasswords implements api.ListMasterPasswords.
func ListMasterPasswords(c *Call, in *api.ListMasterPasswordsRequest) (*api.Page[api.MasterPassword], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.MasterPassword, int, error) {
		filter, ok, err := c.scopedFilter(r, in.Domain, in.WorkspaceID, in.ScopeType, in.Search)
		if err != nil || !ok {
			return nil, 0, err
		}
		return r.MasterPasswords(c.caller.AccountID, filter, s)
	}, masterPassword)
}

// GetMasterPassword implements api.GetMasterPassword.
func GetMasterPassword(c *Call, in *api.MasterPasswordRequest) (*api.MasterPassword, error) {
	return view(c, func(r store.Reader) (*api.MasterPassword, error) {
		p, err := c.findMasterPassword(r, in.CredentialID)
		return new(masterPassword(p)), err
	})
}

// RenameMasterPassword implements api.RenameMasterPassword.
func RenameMasterPassword(c *Call, in *api.RenameMasterPasswordRequest) (*api.MasterPassword, error) {
	return transact(c, func(tx store.Tx) (*api.MasterPassword, error) {
		p, err := tx.UpdateMasterPassword(c.caller.AccountID, in.CredentialID, func(p *store.MasterPassword) error {
			p.Name, p.UpdatedAt = in.Body.Name, c.at
			return c.mustSeeScope(tx, p.Scope)
		})
		if err != nil {
			return nil, c.masterPasswordConflict(tx, err, p)
		}
		return new(masterPassword(p)), nil
	})
}

// DeleteMasterPassword implements api.DeleteMasterPassword.
func DeleteMasterPassword(c *Call, in *api.MasterPasswordRequest) (*api.NoContent, error) {
	return transact(c, func(tx store.Tx) (*api.NoContent, error) {
		p, err := c.findMasterPassword(tx, in.CredentialID)
		if err != nil {
			return nil, err
		}
		return &api.NoContent{}, tx.DeleteMasterPassword(p.AccountID, p.ID)
	})
}

// findMasterPassword returns a master password that the caller may see.
func (c *Call) findMasterPassword(r store.Reader, id string) (store.MasterPassword, error) {
	p, err := r.MasterPassword(c.caller.AccountID, id)
	if err == nil {
		err = c.mustSeeScope(r, p.Scope)
	}
	return p, statusOf(err, "credential_id", "master password")
}

func masterPassword(p store.MasterPassword) api.MasterPassword {
	return api.MasterPassword{
		ID: p.ID, Name: p.Name, ScopeType: p.Scope.Type, ScopeID: p.Scope.ID,
		CreatedAt: timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
	}
}
