package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// resetTimeout is how long POST /reset waits for the requests under way.
const resetTimeout = 10 * time.Second

// ownerTokenName is the name of the service account that POST /accounts makes.
const ownerTokenName = "owner"

// account is what POST /accounts answers, as mailhostd init prints it.
type account struct {
	AccountID   string `json:"account_id"`
	WorkspaceID string `json:"workspace_id"`
	Token       string `json:"token"`
}

func (h server) dumpFixture(w http.ResponseWriter, r *http.Request) error {
	f, err := h.service.DumpFixture(r.Context())
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, f)
}

func (h server) loadFixture(w http.ResponseWriter, r *http.Request) error {
	f, err := apiserver.ReadFixture(http.MaxBytesReader(w, r.Body, maxFixtureBytes))
	if err != nil {
		return invalid(err)
	}
	if err := h.service.LoadFixture(r.Context(), f); err != nil {
		return invalid(err)
	}
	ids := make([]string, len(f.Accounts))
	for i, a := range f.Accounts {
		ids[i] = a.ID
	}
	return write(w, http.StatusOK, map[string]any{"accounts": ids})
}

func (h server) initAccount(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		AccountID string `json:"account_id"`
	}
	if err := decode(w, r, &in); err != nil {
		return err
	}
	if _, err := uuid.Parse(in.AccountID); in.AccountID != "" && err != nil {
		return invalid(errors.New("account_id: must be a UUID"))
	}
	id, token, err := h.service.InitAccount(r.Context(), in.AccountID, ownerTokenName)
	if err != nil {
		return err
	}
	return write(w, http.StatusCreated, account{AccountID: id, WorkspaceID: api.DefaultWorkspaceID(id), Token: token})
}

func (h server) settlePayment(w http.ResponseWriter, r *http.Request) error {
	settled, err := h.service.SettlePayment(r.Context(), r.PathValue("purchase_batch_id"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"domains": settled})
}

func (h server) reset(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), resetTimeout)
	defer cancel()
	if err := h.Plane.Reset(ctx, h.service); err != nil {
		return err
	}
	ids, err := h.service.Accounts(r.Context())
	if err != nil {
		return err
	}
	if ids == nil {
		ids = []string{}
	}
	return write(w, http.StatusOK, map[string]any{"accounts": ids})
}
