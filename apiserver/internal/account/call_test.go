package account

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// TestTimestamp checks that timestamp formats as package time does.
func TestTimestamp(t *testing.T) {
	zone := time.FixedZone("", -7200)
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-1<<37, 1<<38).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).In(zone)
		if got, want := timestamp(at), at.UTC().Format(api.TimestampLayout); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
