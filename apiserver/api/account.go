package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// Account is the customer's account.
type Account struct {
	ID                 string  `json:"id" format:"uuid"`
	Status             string  `json:"status" enum:"active,pending_cancellation,cancelled" doc:"State of the account"`
	PlanID             string  `json:"plan_id" enum:"smtp_per_mailbox,smtp_per_proxy" doc:"Plan of the account"`
	DefaultWorkspaceID string  `json:"default_workspace_id" format:"uuid" doc:"UUID of the workspace that the account was created with"`
	CancelsAt          *string `json:"cancels_at" format:"date-time" doc:"When a pending cancellation takes effect; null if none is pending"`
	CreatedAt          string  `json:"created_at" format:"date-time"`
	UpdatedAt          string  `json:"updated_at" format:"date-time"`
}

// Workspace groups domains of an account.
type Workspace struct {
	ID        string `json:"id" format:"uuid" doc:"UUID of the workspace"`
	Name      string `json:"name" minLength:"1" maxLength:"100" doc:"Name of the workspace"`
	CreatedAt string `json:"created_at" format:"date-time" doc:"When the workspace was created"`
	UpdatedAt string `json:"updated_at" format:"date-time" doc:"When the workspace was last changed"`
}

type CreateWorkspaceBody struct {
	Name string `json:"name" minLength:"1" maxLength:"100" format:"name" doc:"Unique within the account"`
}

type CreateWorkspaceRequest = KeyedRequest[CreateWorkspaceBody]

type WorkspaceRequest struct {
	InAccount
	WorkspaceID string `path:"workspace_id" format:"uuid"`
}

var (
	account    = Kind{Tag: "Account", Description: "The account itself"}
	workspaces = Kind{Tag: "Workspaces", Noun: "workspace", Description: "Groups of domains, for access and filters"}
)

// Operations on the account and its workspaces.
var (
	GetAccount = define[InAccount, Account]("GET ", "Read the account", Spec{
		ID: "get-account", Kind: account, Capability: vocab.CapAccountView,
	})
	ListWorkspaces = define[ListRequest, Page[Workspace]]("GET /workspaces", "List workspaces", Spec{
		ID: "list-workspaces", Kind: workspaces, Capability: vocab.CapWorkspaceView, Narrowable: true,
	})
	CreateWorkspace = defineCreate[CreateWorkspaceBody, Workspace]("POST /workspaces", "Create a workspace", Spec{
		ID: "create-workspace", Kind: workspaces, Capability: vocab.CapWorkspaceManage,
	})
	GetWorkspace = define[WorkspaceRequest, Workspace]("GET /workspaces/{workspace_id}", "Read a workspace", Spec{
		ID: "get-workspace", Kind: workspaces, Capability: vocab.CapWorkspaceView, Narrowable: true,
	})
)
