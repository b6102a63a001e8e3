package serve

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/oauth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// unknownWorkloads returns a warning about grants to workloads that the trust file does not name, or "".
func unknownWorkloads(ctx context.Context, db store.Store, tokens oauth.Verifiers) (string, error) {
	var unknown []string
	err := db.View(ctx, func(r store.Reader) error {
		accounts, err := r.Accounts()
		for _, account := range accounts {
			grants, err := r.Authorizations(account.ID, store.AuthorizationFilter{SubjectType: vocab.SubjectUser})
			if err != nil {
				return err
			}
			for _, g := range grants {
				name, ok := strings.CutPrefix(g.SubjectID, identity.WorkloadPrefix)
				if ok && !tokens.Names(name) && !slices.Contains(unknown, apiclient.QuoteID(name)) {
					unknown = append(unknown, apiclient.QuoteID(name))
				}
			}
		}
		return err
	})
	if err != nil || unknown == nil {
		return "", err
	}
	return "no trust file names these workloads, so that their grants permit nothing: " + strings.Join(unknown, ", ") +
		"; add them to the file of --trust, or remove the grants with mailhostd grant remove --workload NAME", nil
}

// unknownWorkloads is the function of the same name on the database of the settings.
func (c DoctorCommand) unknownWorkloads(ctx context.Context, tokens oauth.Verifiers) (warning string, err error) {
	db, err := cli.OpenDatabase(ctx, c.Database, cli.OpenOptions{ReadOnly: true, Memory: true})
	if err != nil {
		return "", nil //nolint:nilerr // the check of the database reports it
	}
	warning, err = unknownWorkloads(ctx, db, tokens)
	return warning, errors.Join(err, db.Close())
}
