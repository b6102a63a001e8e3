package mailbox

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

const (
	domainID    = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	workspaceID = "8f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
)

func TestFlatten(t *testing.T) {
	t.Parallel()
	workspace := workspaceID
	response := &api.Mailbox{
		ID: "id", DomainID: domainID, DomainName: "xn--bcher-kva.com", LocalPart: "jane", PrimaryEmail: "jane@xn--bcher-kva.com",
		FirstName: "Jane", LastName: "Doe", Status: vocab.MailboxActive, Quota: api.Quota{Allowed: 10, Used: 3},
		Aliases: []api.MailboxAlias{{Alias: "info@xn--bcher-kva.com", IsCatchAll: true}}, WorkspaceID: &workspace, CreatedAt: "c", UpdatedAt: "u",
	}
	for written, want := range map[string]string{"": "xn--bcher-kva.com", "Bücher.com.": "Bücher.com.", domainID: domainID, "example.com": "xn--bcher-kva.com"} {
		m := model{Domain: customtype.New(written)}
		if written == "" {
			m.Domain = customtype.String{}
		}
		m.flatten(response)
		if got := m.Domain.ValueString(); got != want {
			t.Errorf("domain %q becomes %q, want %q", written, got, want)
		}
		if m.WorkspaceID.ValueString() != workspaceID || !m.WorkspaceName.IsNull() {
			t.Errorf("workspace %s, %s", m.WorkspaceID, m.WorkspaceName)
		}
		if got := m.Aliases.String(); got != `[{"alias":"info@xn--bcher-kva.com","is_catch_all":true}]` {
			t.Errorf("aliases %s", got)
		}
		if got := m.Quota.String(); got != `{"allowed":10,"used":3}` {
			t.Errorf("quota %s", got)
		}
	}
	response.Aliases = nil
	var m model
	if m.flatten(response); m.Aliases.IsNull() || len(m.Aliases.Elements()) != 0 {
		t.Errorf("without aliases: %s, want an empty list", m.Aliases)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	m := model{LocalPart: customtype.New("Jane"), Domain: customtype.New("a.com")}
	if got := m.address(); got != "Jane@a.com" {
		t.Errorf("before the create it is %q", got)
	}
	m.PrimaryEmail = types.StringValue("jane@a.com")
	if got := m.address(); got != "jane@a.com" {
		t.Errorf("after the create it is %q", got)
	}
}

// TestAdoptedChanges checks what a plan says about the names of a mailbox that it adopts.
func TestAdoptedChanges(t *testing.T) {
	t.Parallel()
	for to, want := range map[types.String]string{
		types.StringValue("Jane"):  "[]",
		types.StringValue("Janet"): "[first_name from Jane to Janet]",
		types.StringUnknown():      "[first_name to a value that is known after the apply]",
	} {
		if got := fmt.Sprint(change("first_name", "Jane", to)); got != want {
			t.Errorf("%s: %s, want %s", to, got, want)
		}
	}
}
