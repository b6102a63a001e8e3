package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// MasterPassword is a credential with a scope, without its secret.
type MasterPassword struct {
	ID        string `json:"id" format:"uuid"`
	Name      string `json:"name" minLength:"1" maxLength:"100" doc:"Name of the master password, unique within its scope"`
	ScopeType string `json:"scope_type" enum:"account,workspace,domain" doc:"What it applies to"`
	ScopeID   string `json:"scope_id" format:"uuid" doc:"UUID of the account, workspace or domain that it applies to"`
	CreatedAt string `json:"created_at" format:"date-time"`
	UpdatedAt string `json:"updated_at" format:"date-time"`
}

// CreatedMasterPassword is the response to a create.
type CreatedMasterPassword struct {
	MasterPassword
	GeneratedSecret *string `json:"generated_secret,omitempty" minLength:"1" doc:"The generated secret, shown only in the response to a request with generate"`
}

type CreateMasterPasswordBody struct {
	Name        string  `json:"name" minLength:"1" maxLength:"100" format:"name" doc:"Display name, unique within its scope"`
	Domain      *string `json:"domain,omitempty" nullable:"true" doc:"Domain UUID or domain name: the scope is that domain"`
	WorkspaceID *string `json:"workspace_id,omitempty" format:"uuid" nullable:"true" doc:"The scope is that workspace"`
	Generate    bool    `json:"generate,omitempty" default:"false" nullable:"true" doc:"Generate the secret instead of supplying it"`
	Value       *string `json:"value,omitempty" minLength:"4" maxLength:"256" nullable:"true" doc:"The secret when it is not generated"`
}

type CreateMasterPasswordRequest = KeyedRequest[CreateMasterPasswordBody]

type ListMasterPasswordsRequest struct {
	InAccount
	Paged
	Domain      string `query:"domain" doc:"Only those that apply to this domain, by name or UUID"`
	WorkspaceID string `query:"workspace_id" format:"uuid" doc:"Only those that apply to the workspace with this UUID, without those of its domains; not together with a domain"`
	ScopeType   string `query:"scope_type" enum:"account,workspace,domain" doc:"Only those with this type of scope"`
	Search      string `query:"search" doc:"Only those with this text in their name, in upper or lower case"`
}

type RenameMasterPasswordRequest struct {
	InAccount
	CredentialID string `path:"credential_id" format:"uuid"`
	Body         RenameMasterPasswordBody
}

type RenameMasterPasswordBody struct {
	Name string `json:"name" minLength:"1" maxLength:"100" format:"name"`
}

type MasterPasswordRequest struct {
	InAccount
	CredentialID string `path:"credential_id" format:"uuid"`
}

var masterPasswords = Kind{Tag: "Master passwords", Noun: "master password", Description: "Passwords that open every mailbox of a scope; the paths call them credentials"}

// Operations on master passwords.
var (
	CreateMasterPassword = defineCreate[CreateMasterPasswordBody, CreatedMasterPassword]("POST /credentials", "Create a master password", Spec{
		Number: 3, ID: "create-master-password", Kind: masterPasswords, Capability: vocab.CapCredentialManage, Narrowable: true,
	})
	ListMasterPasswords = define[ListMasterPasswordsRequest, Page[MasterPassword]]("GET /credentials", "List master passwords", Spec{
		Number: 4, ID: "list-master-passwords", Kind: masterPasswords, Capability: vocab.CapCredentialView, Narrowable: true,
	})
	RenameMasterPassword = define[RenameMasterPasswordRequest, MasterPassword]("PATCH /credentials/{credential_id}", "Rename a master password", Spec{
		Number: 5, ID: "rename-master-password", Kind: masterPasswords, Capability: vocab.CapCredentialManage, Narrowable: true,
	})
	GetMasterPassword = define[MasterPasswordRequest, MasterPassword]("GET /credentials/{credential_id}", "Read a master password", Spec{
		ID: "get-master-password", Kind: masterPasswords, Capability: vocab.CapCredentialView, Narrowable: true,
	})
	DeleteMasterPassword = defineEmpty[MasterPasswordRequest]("DELETE /credentials/{credential_id}", "Delete a master password", Spec{
		ID: "delete-master-password", Kind: masterPasswords, Capability: vocab.CapCredentialManage, Narrowable: true,
	})
)
