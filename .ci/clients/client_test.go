//go:build clients

// Run by the script beside it, in a module with the generated client.
package client

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/google/uuid"
)

// TestClient creates an object with the generated client, is refused another, and deletes the first.
func TestClient(t *testing.T) {
	token := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("MAILHOST_TOKEN"))
		return nil
	}
	c, err := NewClientWithResponses(os.Getenv("MAILHOST_BASE_URL"), WithRequestEditorFn(token))
	if err != nil {
		t.Fatal(err)
	}
	ctx, account := t.Context(), uuid.MustParse(os.Getenv("MAILHOST_ACCOUNT_ID"))
	created, err := c.CreateServiceAccountWithResponse(ctx, account, nil, CreateServiceAccountBody{Name: "Prüfung"})
	if err != nil || created.JSON201 == nil || created.JSON201.Name != "Prüfung" {
		t.Fatalf("%v: %s", err, created.Body)
	}
	refused, err := c.CreateServiceAccountWithResponse(ctx, account, nil, CreateServiceAccountBody{})
	if err != nil || refused.JSON422 == nil || refused.JSON422.Detail[0].Type != ProblemTypeStringTooShort {
		t.Fatalf("%v: %s", err, refused.Body)
	}
	deleted, err := c.RevokeServiceAccountWithResponse(ctx, account, created.JSON201.Id)
	if err != nil || deleted.StatusCode() != http.StatusNoContent {
		t.Fatalf("%v: %s", err, deleted.Body)
	}
}
