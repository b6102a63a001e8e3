package account

import (
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// GetAccount implements api.GetAccount.
func GetAccount(c *Call, _ *api.GetAccountRequest) (*api.Account, error) {
	return view(c, func(r store.Reader) (*api.Account, error) {
		a, err := r.Account(c.caller.AccountID)
		return &api.Account{
			ID: a.ID, Status: a.StatusAt(c.at), PlanID: a.PlanAt(c.at), DefaultWorkspaceID: api.DefaultWorkspaceID(c.caller.AccountID),
			CancelsAt: optionalTimestamp(a.CancelsAt), CreatedAt: timestamp(a.CreatedAt), UpdatedAt: timestamp(a.UpdatedAt),
		}, err
	})
}

// CreateWorkspace implements api.CreateWorkspace.
func CreateWorkspace(c *Call, in *api.CreateWorkspaceRequest) (*api.Workspace, error) {
	id := c.rules.random.ID()
	return transact(c, func(tx store.Tx) (*api.Workspace, error) {
		w := store.Workspace{ID: id, AccountID: c.caller.AccountID, Name: in.Body.Name, CreatedAt: c.at}
		err := tx.CreateWorkspace(&w)
		if exists, ok := errors.AsType[*store.ExistsError](err); ok {
			return nil, api.Conflict("the account has a workspace named %q already%s", w.Name,
				c.naming(tx, vocab.CapWorkspaceView, store.Scope{Type: vocab.ScopeWorkspace, ID: exists.ID}, ", with the id ", exists.ID))
		}
		return new(workspace(w)), err
	})
}

// ListWorkspaces implements api.ListWorkspaces.
func ListWorkspaces(c *Call, in *api.ListWorkspacesRequest) (*api.Page[api.Workspace], error) {
	return listPage(c, in.Paged, func(r store.Reader, s store.Slice) ([]store.Workspace, int, error) {
		return r.Workspaces(c.caller.AccountID, c.caller.Within(c.spec.Capability), s)
	}, workspace)
}

// GetWorkspace implements api.GetWorkspace.
func GetWorkspace(c *Call, in *api.WorkspaceRequest) (*api.Workspace, error) {
	return view(c, func(r store.Reader) (*api.Workspace, error) {
		w, err := r.Workspace(c.caller.AccountID, in.WorkspaceID)
		if err == nil && !sees(c.caller.Within(c.spec.Capability), w.ID, "") {
			err = store.ErrNotFound
		}
		return new(workspace(w)), statusOf(err, "workspace_id", "workspace")
	})
}

func workspace(w store.Workspace) api.Workspace {
	return api.Workspace{ID: w.ID, Name: w.Name, CreatedAt: timestamp(w.CreatedAt), UpdatedAt: timestamp(w.UpdatedAt)}
}
