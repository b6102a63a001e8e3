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

// ownerTokenName is the name of the service account that init makes.
const ownerTokenName = "owner"

type initCommand struct {
	Database  string `default:"mailhost.db" placeholder:"FILE" help:"SQLite file, made if it does not exist. Default: ${default}."`
	AccountID string `placeholder:"UUID" help:"Id of the account to make. Default: a new one."`
}

// Help is shown by mailhostd init --help.
func (initCommand) Help() string {
	return "Prints {\"account_id\": …, \"workspace_id\": …, \"token\": …}. The token is shown this once and can't be had again."
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

// initialized is what init prints.
type initialized struct {
	AccountID   string `json:"account_id"`
	WorkspaceID string `json:"workspace_id"`
	Token       string `json:"token"`
}

// Run makes the account.
func (c initCommand) Run(ctx context.Context, m Main) (err error) {
	db, err := m.Openers.open(ctx, c.Database)
	if err != nil {
		return err
	}
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	defer func() { err = errors.Join(err, service.Close()) }()

	id, token, err := service.InitAccount(ctx, c.AccountID, ownerTokenName)
	if inUse := new(apiserver.AccountInUseError); errors.As(err, &inUse) {
		return c.explain(inUse)
	}
	if err != nil {
		return fmt.Errorf("the account can't be made: %w", err)
	}
	return json.NewEncoder(m.Stdout).Encode(initialized{AccountID: id, WorkspaceID: api.DefaultWorkspaceID(id), Token: token})
}

// explain says what exists and what to do instead.
func (c initCommand) explain(inUse *apiserver.AccountInUseError) error {
	create := strings.Replace(api.CreateServiceAccount.Path, "{account_id}", inUse.AccountID, 1)
	return fmt.Errorf("%s has the account %s already, with a service account that works; nothing was changed. "+
		"Use its token to get another one: %s %s", describe(c.Database), inUse.AccountID, api.CreateServiceAccount.Method, create)
}
