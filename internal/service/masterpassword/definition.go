// Package masterpassword has the resource mailhost_master_password, its data sources
// and its list resource. The API's paths call master passwords credentials.
//
// # The secret
//
// The API accepts a secret in a create, returns a generated one once, and can neither
// read nor change it. A change of the secret is therefore a replacement. A plan compares
// the configuration with the state:
//
//	state records    configuration: the same   another                     none
//	value            no change                 replaces                    removed from state, with a warning
//	value_wo_version no change                 replaces                    removed from state, with a warning
//	generate         no change                 replaces                    removed from state, with a warning
//	none, importing  -                         recorded, nothing is sent   no change
//	none, imported   -                         error with the ways out     no change
//	none, other      -                         replaces, with a warning    no change
//
// A secret that moves to another attribute is the same if the state has its text:
// value or generated_secret to value_wo, or generated_secret to value. value_wo is
// compared by its version alone.
//
// A state that records no secret has an importStage: the plan of an import may record
// the configured secret as the one in use, a later plan may not.
package masterpassword

import (
	"context"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.MasterPassword, model]{
	Name: "master_password",
	Collection: service.Collection[api.MasterPassword]{
		Names: "master_passwords", Noun: "master password", Nouns: "master passwords",
		Note:       "Their secrets are not included.",
		Attributes: attributes,
		Described:  map[string]string{"name": "Name of the master password, unique within its scope."},
		Filters:    []service.Filter{service.SearchFilter("master passwords", "their name")},
		List:       service.Listed((*client.Client).ListMasterPasswords),
	},
	ID:          func(p *api.MasterPassword) string { return p.ID },
	Get:         (*client.Client).GetMasterPassword,
	FindInScope: (*client.Client).FindMasterPassword,
	ImportBy:    "<domain>/<name>, <workspace UUID>/<name>, <name> alone for a master password of the account, or by UUID",
	Managing: service.Managing{
		ResourceDescription: description,
		Settings:            secretAttributes,
		Volatile:            []string{"generated_secret", "updated_at"},
	},
	Delete:          (*client.Client).DeleteMasterPassword,
	DeleteOperation: api.DeleteMasterPassword.Spec,
	Orphaned: func(_ context.Context, _ *client.Client, m model) string {
		return fmt.Sprintf("THE PASSWORD STILL WORKS: whoever knows it can use every mailbox of %s. Its name stays taken there; to create another one, choose another name.", m.Expand())
	},
	Single: service.Single[api.MasterPassword]{
		Description: "A master password that exists, by its UUID, or by its name within its scope. Its secret is not included: the API returns only a generated one, and only once.",
		Keys: []service.Filter{
			service.IDKey("master password", "`name`"),
			service.NewFilter("name", "Name of the master password, which is case-sensitive. Set it or `id`.",
				validate.Length[api.CreateMasterPasswordBody]("name")),
		},
	},
	Listing: service.Listing[api.MasterPassword, model]{
		Note:        "A configuration generated from it has no secret, so that the one in use does not change.",
		DisplayName: func(p *api.MasterPassword) string { return service.ScopedName(p.Name, p.ScopeType) },
	},
}
