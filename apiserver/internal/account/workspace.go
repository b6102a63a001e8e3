package account

import (
	"errors"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

var _ = change(api.CreateWorkspace, func(c *Call, tx store.Tx, in *api.CreateWorkspaceRequest) (*api.Workspace, error) {
	w := store.Workspace{ID: c.Rules.Random.ID(), AccountID: c.Caller.AccountID, Name: in.Body.Name, CreatedAt: c.Arrival}
	err := tx.CreateWorkspace(&w)
	if exists, ok := errors.AsType[*store.ExistsError](err); ok {
		return nil, api.Conflict("the account has a workspace named %q already%s", w.Name,
			c.existingID(tx, vocab.CapWorkspaceView, store.Scope{Type: vocab.ScopeWorkspace, ID: exists.ID}, ", with the id ", exists.ID))
	}
	return new(workspace(w)), err
})

var _ = read(api.ListWorkspaces, func(c *Call, r store.Reader, in *api.ListRequest) (*api.Page[api.Workspace], error) {
	return page(in.Paged, workspace, func(s store.Slice) ([]store.Workspace, int, error) {
		return r.Workspaces(c.Caller.AccountID, c.within(), s)
	})
})

var _ = read(api.GetWorkspace, func(c *Call, r store.Reader, in *api.WorkspaceRequest) (*api.Workspace, error) {
	w, err := c.findWorkspace(r, in.WorkspaceID)
	return new(workspace(w)), err
})

func workspace(w store.Workspace) api.Workspace {
	return api.Workspace{ID: w.ID, Name: w.Name, CreatedAt: timestamp(w.CreatedAt), UpdatedAt: timestamp(w.UpdatedAt)}
}
