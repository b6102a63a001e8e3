package account

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// masterPasswordOperations binds the operations on master passwords to their rules.
var masterPasswordOperations = []Operation{
	implement(api.CreateMasterPassword, createMasterPassword),
	read(api.ListMasterPasswords, listMasterPasswords),
	read(api.GetMasterPassword, getMasterPassword),
	change(api.RenameMasterPassword, renameMasterPassword),
	remove(api.DeleteMasterPassword, deleteMasterPassword),
}

// generatedSecretBytes are 160 bits, encoded as 32 characters.
const generatedSecretBytes = 20

func createMasterPassword(c *Call, in *api.CreateMasterPasswordRequest) (*api.CreatedMasterPassword, error) {
	var generated *string
	secret := in.Body.Value
	if in.Body.Generate {
		generated = new(auth.SecretEncoding.EncodeToString(c.Rules.Random.Bytes(generatedSecretBytes)))
		secret = generated
	}
	hash, err := c.Rules.hash(c.Context, c.Caller.AccountID, *secret) // outside of a transaction, because hashing is slow
	if err != nil {
		return nil, err
	}
	return transact(c, func(tx store.Tx) (*api.CreatedMasterPassword, error) {
		scope, err := c.scopeInBody(tx, in.Body.Domain, in.Body.WorkspaceID)
		if err != nil {
			return nil, err
		}
		p := store.MasterPassword{
			ID: c.Rules.Random.ID(), AccountID: c.Caller.AccountID, Name: in.Body.Name, Scope: scope, SecretHash: hash, CreatedAt: c.Arrival,
		}
		if err := tx.Create(&p); err != nil {
			return nil, c.masterPasswordConflict(tx, err, p)
		}
		return &api.CreatedMasterPassword{MasterPassword: masterPassword(p), GeneratedSecret: generated}, nil
	})
}

// masterPasswordConflict converts the error for a second master password of that name in the scope
// to a conflict.
func (c *Call) masterPasswordConflict(r store.Reader, err error, p store.MasterPassword) error {
	return c.ifExists(r, err, vocab.CapCredentialView, p.Scope, ", with the id ",
		"this %s has a master password named %q already", p.Scope.Type, p.Name)
}

func listMasterPasswords(c *Call, r store.Reader, in *api.ListMasterPasswordsRequest) (*api.Page[api.MasterPassword], error) {
	filter, err := c.scopedFilter(r, in.Domain, in.WorkspaceID, in.ScopeType, in.Search)
	if err != nil {
		return nil, err
	}
	return page(c, in.Paged, masterPassword, r.MasterPasswords, filter)
}

func getMasterPassword(c *Call, r store.Reader, in *api.MasterPasswordRequest) (*api.MasterPassword, error) {
	p, err := c.findMasterPassword(r, in.CredentialID)
	return new(masterPassword(p)), err
}

func renameMasterPassword(c *Call, tx store.Tx, in *api.RenameMasterPasswordRequest) (*api.MasterPassword, error) {
	p, err := store.Update(tx, c.Caller.AccountID, in.CredentialID, func(p *store.MasterPassword) error {
		p.Name, p.UpdatedAt = in.Body.Name, c.Arrival
		return c.ifScopeVisible(tx, nil, p.Scope)
	})
	return new(masterPassword(p)), c.masterPasswordConflict(tx, err, p)
}

func deleteMasterPassword(c *Call, tx store.Tx, in *api.MasterPasswordRequest) error {
	p, err := c.findMasterPassword(tx, in.CredentialID)
	if err != nil {
		return err
	}
	return store.Delete[store.MasterPassword](tx, p.AccountID, p.ID, c.Arrival)
}

func (c *Call) findMasterPassword(r store.Reader, id string) (store.MasterPassword, error) {
	p, err := store.Get[store.MasterPassword](r, c.Caller.AccountID, id)
	return p, c.ifScopeVisible(r, err, p.Scope)
}

func masterPassword(p store.MasterPassword) api.MasterPassword {
	return api.MasterPassword{
		ID: p.ID, Name: p.Name, ScopeType: p.Scope.Type, ScopeID: p.Scope.ID,
		CreatedAt: timestamp(p.CreatedAt), UpdatedAt: timestamp(p.UpdatedAt),
	}
}
