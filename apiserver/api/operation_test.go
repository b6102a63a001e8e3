package api

import (
	"maps"
	"net/url"
	"slices"
	"testing"
)

func TestPathValues(t *testing.T) {
	t.Parallel()
	spec := GetMailbox.Spec
	if got, want := spec.PathParameters(), []string{"account_id", "mailbox"}; !slices.Equal(got, want) {
		t.Errorf("parameters %q, want %q", got, want)
	}
	for path, want := range map[string]map[string]string{
		"/v1/public/accounts/a/mailboxes/jane@example.com": {"account_id": "a", "mailbox": "jane@example.com"},
		"/v1/public/accounts/a/mailboxes/j%2Fd%40x":        {"account_id": "a", "mailbox": "j/d@x"},
		"/v1/public/accounts/a":                            {"account_id": "a"},
	} {
		u, err := url.Parse("http://x" + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec.PathValues(u); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
