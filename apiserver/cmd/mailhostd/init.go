package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
)

type initCommand struct {
	Database  string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file, created if it does not exist, or postgres:// URL of a database. Default: ${default}."`
	AccountID string `placeholder:"UUID" help:"Id of the account to create. Default: a random UUID."`
}

// Help is shown by mailhostd init --help.
func (initCommand) Help() string {
	return "Prints {\"account_id\": …, \"workspace_id\": …, \"token\": …}. The token is shown only once."
}

// Validate is called by kong.
func (c initCommand) Validate() error {
	if _, err := uuid.Parse(c.AccountID); c.AccountID != "" && err != nil {
		return fmt.Errorf("--account-id: %.64q is not a UUID", c.AccountID)
	}
	if c.Database == sqlite.Memory {
		return errors.New("--database: an account in memory is gone at once; name a file")
	}
	return nil
}

// newAccount is the output of init.
type newAccount struct {
	AccountID   string `json:"account_id"`
	WorkspaceID string `json:"workspace_id"`
	Token       string `json:"token"`
}

// Run creates the account.
func (c initCommand) Run(ctx context.Context, m Main) (err error) {
	db, err := m.Openers.open(ctx, c.Database, OpenOptions{})
	if err != nil {
		return err
	}
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, service.Close()) }()

	id, token, err := service.InitAccount(ctx, c.AccountID, "owner")
	if inUse := new(apiserver.AccountInUseError); errors.As(err, &inUse) {
		create := strings.Replace(api.CreateServiceAccount.Path, "{account_id}", inUse.AccountID, 1)
		return fmt.Errorf("%s has the account %s already, with a service account that works; nothing was changed. "+
			"Use its token to create another one: %s %s", redactDatabase(c.Database), inUse.AccountID, api.CreateServiceAccount.Method, create)
	}
	if err != nil {
		return fmt.Errorf("the account can't be created: %w", err)
	}
	return json.NewEncoder(m.Stdout).Encode(newAccount{AccountID: id, WorkspaceID: api.DefaultWorkspaceID(id), Token: token})
}
