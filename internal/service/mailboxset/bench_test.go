package mailboxset_test

import (
	"fmt"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// BenchmarkSet measures the provider's calls for a set of 10,000 mailboxes, with the API
// behind a socket of this process.
func BenchmarkSet(b *testing.B) {
	const n = 10_000
	s := acctest.NewServer(b, acctest.Options{})
	s.Domain(b, "example.com")
	entries := map[string]any{}
	for i := range n {
		entries[fmt.Sprint("user", i)] = map[string]any{"first_name": fmt.Sprint("First", i), "last_name": fmt.Sprint("Last", i)}
	}
	config := map[string]any{"domain": "example.com", "mailboxes": entries, "max_deletions": n}
	p := s.Protocol(b, "")
	b.Run("validate", func(b *testing.B) {
		for range b.N {
			p.NoErrors(p.Validate(typeName, config))
		}
	})
	b.Run("first plan", func(b *testing.B) {
		for range b.N {
			_, diags := p.Plan(typeName, config, nil)
			p.NoErrors(diags)
		}
	})
	o, diags := p.Apply(b.Context(), typeName, config, nil)
	p.NoErrors(diags)
	b.Run("read", func(b *testing.B) {
		for range b.N {
			_, diags := p.Walk().Read(typeName, o)
			p.NoErrors(diags)
		}
	})
	b.Run("empty plan", func(b *testing.B) {
		for range b.N {
			_, diags := p.Plan(typeName, config, o)
			p.NoErrors(diags)
		}
	})
}
