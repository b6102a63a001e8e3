package service

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

func TestFindScoped(t *testing.T) {
	t.Parallel()
	const id = "7f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	for key, want := range map[string][]string{
		"jane@example.org":             {"the account: jane@example.org"},
		"example.com/jane@example.org": {"domain example.com: jane@example.org", "the account: example.com/jane@example.org"},
		"example.com/a/b@example.org":  {"domain example.com: a/b@example.org", "the account: example.com/a/b@example.org"},
		"a/b@example.org":              {"the account: a/b@example.org"},
		"example.com/":                 {"the account: example.com/"},
		id + "/x":                      {"workspace " + id + ": x", "domain " + id + ": x", "the account: " + id + "/x"},
	} {
		var asked []string
		find := func(foundAt int) func(client.Scope, string) (*string, error) {
			asked = nil
			return func(scope client.Scope, name string) (*string, error) {
				asked = append(asked, scope.String()+": "+name)
				if len(asked) == foundAt {
					return &name, nil
				}
				return nil, fmt.Errorf("%d: %w", len(asked), client.ErrNotFound)
			}
		}
		_, err := FindScoped(key, find(0))
		if !slices.Equal(asked, want) || !client.IsNotFound(err) || err.Error() != "1: not found" {
			t.Errorf("%s: asked for %q, %v; want %q, and the first error", key, asked, err, want)
		}
		for n := range want {
			if found, err := FindScoped(key, find(n+1)); err != nil || found == nil || len(asked) != n+1 {
				t.Errorf("%s, found in scope %d: %v, %v after %q", key, n, found, err, asked)
			}
		}
	}
	broken := errors.New("broken")
	calls := 0
	if _, err := FindScoped("example.com/x", func(client.Scope, string) (*string, error) { calls++; return nil, broken }); !errors.Is(err, broken) || calls != 1 {
		t.Errorf("a failure is %v after %d calls", err, calls)
	}
}
