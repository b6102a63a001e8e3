package serviceaccount

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func timestamp(s string) customtype.String { return customtype.New(s) }

func TestPast(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for at, want := range map[customtype.String]bool{
		timestamp("2026-12-31T23:59:59Z"):      true,
		timestamp("2027-01-01T00:00:00Z"):      true,
		timestamp("2027-01-01T00:30:00+01:00"): true,
		timestamp("2027-01-01T00:00:01Z"):      false,
		timestamp("2026-12-31T23:59:59-01:00"): false,
		timestamp("of a later API"):            false,
		customtype.NewUnknown():                false,
		customtype.NewPointer(nil):             false,
	} {
		if got := past(at, now); got != want {
			t.Errorf("%s: %t", at, got)
		}
	}
}

// TestFlattenKeeps checks that flatten keeps the values that the API returns only once.
func TestFlattenKeeps(t *testing.T) {
	t.Parallel()
	triggers := types.MapValueMust(types.StringType, nil)
	m := model{Token: types.StringValue("s3cret"), RotationTriggers: triggers}
	service.Flatten(&m, &api.ServiceAccount{ID: "id", Name: "CI"})
	if m.Token.ValueString() != "s3cret" || !m.RotationTriggers.Equal(triggers) || m.imported() {
		t.Errorf("flattened %+v", m)
	}
	if !m.ExpiresAt.IsNull() || !m.LastUsedAt.IsNull() || !m.RevokedAt.IsNull() || !m.CreatedByUserID.IsNull() {
		t.Errorf("with null fields: %+v", m)
	}
}

// TestStillWorks checks that the warning describes the possible consequences.
func TestStillWorks(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	last4 := types.StringValue("enty")
	for want, m := range map[string]model{
		"STILL WORKS, and it never expires":          {TokenLast4: last4},
		"STILL WORKS until 2028-01-01T00:00:00Z":     {TokenLast4: last4, ExpiresAt: timestamp("2028-01-01T00:00:00Z")},
		"Its token has expired and no longer works.": {TokenLast4: last4, ExpiresAt: timestamp("2026-01-01T00:00:00Z")},
	} {
		got := stillWorks(m, now)
		if !strings.Contains(got, want) || strings.Contains(got, "STILL") != strings.Contains(got, "enty") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
