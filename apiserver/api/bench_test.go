package api_test

import (
	"fmt"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// BenchmarkValidate validates the body of a bulk request of 1,000 mailboxes.
func BenchmarkValidate(b *testing.B) {
	items := make([]any, api.MaxBulkItems)
	for i := range items {
		items[i] = map[string]any{"local_part": fmt.Sprintf("box-%d", i), "first_name": "Ada", "last_name": "Lovelace"}
	}
	body := map[string]any{"domain": "example.com", "items": items}
	field := api.CreateMailboxes.Body()
	b.ReportAllocs()
	for b.Loop() {
		if problems := field.Validate(body, false); problems != nil {
			b.Fatal(problems)
		}
	}
}
