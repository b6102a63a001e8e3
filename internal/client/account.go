package client

import (
	"context"
	"iter"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

var workspaceKind = kind[api.Workspace]{
	noun: "workspace",
	id:   func(w *api.Workspace) string { return w.ID },
	fold: foldID,
}

// GetAccount reads the account itself. An API without lifecycle operations
// can't: ErrReadUnsupported.
func (c *Client) GetAccount(ctx context.Context) (*api.Account, error) {
	op := api.GetAccount
	if c.caps.absent(op.Spec) {
		return nil, unsupported(ErrReadUnsupported, op.Spec, c.accountID)
	}
	a, err := call(ctx, c, op, &api.GetAccountRequest{}, about(c.accountID))
	switch {
	case err == nil:
		c.caps.found(op.Spec)
		if err := named(op.Spec, c.accountID, a.ID); err != nil {
			return nil, err
		}
		return a, nil
	case IsUnsupported(err), StatusOf(err) == http.StatusNotFound && !c.caps.present(op.Spec):
		// No list shows an account; one whose credential is accepted is there.
		if err := c.conclude(ctx, op.Spec, err); err != nil {
			return nil, err
		}
		return nil, unsupported(ErrReadUnsupported, op.Spec, c.accountID)
	}
	return nil, err
}

// ListWorkspaces returns all workspaces. An API without lifecycle operations
// can't: ErrReadUnsupported.
func (c *Client) ListWorkspaces(ctx context.Context) iter.Seq2[api.Workspace, error] {
	return sweep(ctx, c, api.ListWorkspaces, api.ListWorkspacesRequest{}, workspaceKind.id)
}

// GetWorkspace reads a workspace.
func (c *Client) GetWorkspace(ctx context.Context, id string) (*api.Workspace, error) {
	return read(ctx, c, api.GetWorkspace, &api.WorkspaceRequest{WorkspaceID: id}, c.workspaces, id)
}

// FindWorkspace looks a workspace up by its name.
func (c *Client) FindWorkspace(ctx context.Context, name string) (*api.Workspace, error) {
	found, err := c.workspacesNamed(ctx, name)
	return only(workspaceKind, name, found, err)
}

func (c *Client) workspacesNamed(ctx context.Context, name string) ([]api.Workspace, error) {
	return matching(c.ListWorkspaces(ctx), func(w *api.Workspace) bool { return w.Name == name })
}

// CreateWorkspace creates a workspace, where this API can: ErrCreateUnsupported.
func (c *Client) CreateWorkspace(ctx context.Context, name string) (*api.Workspace, error) {
	req := &api.CreateWorkspaceRequest{Body: api.CreateWorkspaceBody{Name: name}}
	w, err := createLifecycle(ctx, c, api.CreateWorkspace, req, &creation[api.Workspace]{
		object: name,
		id:     workspaceKind.id,
		find:   func(ctx context.Context) ([]api.Workspace, error) { return c.workspacesNamed(ctx, name) },
		forget: c.workspaces.invalidate,
	})
	if err != nil {
		return nil, err
	}
	c.workspaces.upsert(*w)
	return w, nil
}
