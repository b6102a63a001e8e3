package account

import (
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestSees checks that an object is seen by its workspace or its domain, and by neither if it
// has none.
func TestSees(t *testing.T) {
	restricted := store.Within{Restricted: true, Workspaces: []string{"w", ""}, Domains: []string{"d", ""}}
	for _, tt := range []struct {
		within            store.Within
		workspace, domain string
		want              bool
	}{
		{store.Within{}, "", "", true},
		{store.Within{Restricted: true}, "w", "d", false},
		{restricted, "", "", false},
		{restricted, "w", "", true},
		{restricted, "", "d", true},
		{restricted, "d", "w", false},
		{restricted, "other", "d", true},
	} {
		if got := sees(tt.within, tt.workspace, tt.domain); got != tt.want {
			t.Errorf("%+v sees workspace %q, domain %q: %t", tt.within, tt.workspace, tt.domain, got)
		}
	}
}
