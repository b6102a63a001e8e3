package service

import (
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func TestStillUnknown(t *testing.T) {
	t.Parallel()
	state := map[string]string{"domain": "a.com", "name": "jane", "domain_id": "1"}
	for what, c := range map[string]struct {
		plan map[string]string
		want []string
	}{
		"nothing differs":          {state, nil},
		"another value":            {map[string]string{"domain": "b.com", "name": "jane"}, nil},
		"one unknown":              {map[string]string{"domain": "?", "name": "jane", "domain_id": "1"}, []string{"domain"}},
		"both unknown":             {map[string]string{"domain": "?", "name": "?"}, []string{"domain", "name"}},
		"unknown, another value":   {map[string]string{"domain": "?", "name": "john"}, nil},
		"unknown, other elsewhere": {map[string]string{"domain": "?", "name": "jane", "domain_id": "2"}, []string{"domain"}},
	} {
		if got := StillUnknown(thingOf(t, c.plan), thingOf(t, state), "domain", "name"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	if got := StillUnknown(tftypes.NewValue(thing.Type().TerraformType(t.Context()), nil), thingOf(t, state), "domain"); len(got) > 0 {
		t.Errorf("a destroy: %q", got)
	}
}

func TestAnnounceUnknown(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	AnnounceReplacement(&diags, "mailbox jane", "Another name.", "It costs.", "domain", "name")
	const want = "Only the apply will know its domain and name, and until then that counts as another one: it is replaced even if the apply finds that nothing has changed.\n\n" +
		"It costs.\n\n" +
		"To keep it, give domain and name a value that the plan knows. What a data source tells is not known while a change is planned of anything in its depends_on."
	if len(diags) != 1 || diags[0].Summary() != "The plan replaces the mailbox jane" || diags[0].Detail() != want {
		t.Errorf("%q", told(diags))
	}
}
