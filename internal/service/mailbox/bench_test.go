package mailbox_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// BenchmarkLookup reads 5,000 mailboxes with the plural data source and with the list
// resource, and a single one.
func BenchmarkLookup(b *testing.B) {
	const mailboxes = 5000
	s := acctest.NewServer(b, acctest.Options{})
	s.Domain(b, "example.com")
	for from := 0; from < mailboxes; from += api.MaxBulkItems {
		items := make([]api.NewMailboxItem, api.MaxBulkItems)
		for i := range items {
			items[i] = api.NewMailboxItem{FirstName: "Jane", LastName: "Doe", LocalPart: fmt.Sprintf("m%d", from+i)}
		}
		body := api.CreateMailboxesBody{Domain: "example.com", Items: items}
		acctest.Call(b, s, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body})
	}
	p := s.Protocol(b, "")
	b.Run("plural", func(b *testing.B) {
		for b.Loop() {
			_, diags := p.ReadData("mailhost_mailboxes", nil)
			p.NoErrors(diags)
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			_, diags := p.List(typeName, nil, 0)
			p.NoErrors(diags)
		}
	})
	b.Run("list 100", func(b *testing.B) {
		for b.Loop() {
			_, diags := p.List(typeName, nil, 100)
			p.NoErrors(diags)
		}
	})
	b.Run("singular", func(b *testing.B) {
		for b.Loop() {
			_, diags := p.ReadData("mailhost_mailbox", map[string]any{"primary_email": "m4999@example.com"})
			p.NoErrors(diags)
		}
	})
}

// BenchmarkCalls makes the calls of a plan for one mailbox.
func BenchmarkCalls(b *testing.B) {
	s := acctest.NewServer(b, acctest.Options{})
	s.Domain(b, "example.com")
	p := s.Protocol(b, "")
	config := map[string]any{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}
	o, diags := p.Apply(b.Context(), typeName, config, nil)
	p.NoErrors(diags)
	outdated := p.With(typeName, o, "first_name", "Joan")
	p.Together()
	for name, call := range map[string]func() []*tfprotov6.Diagnostic{
		"validate":       func() []*tfprotov6.Diagnostic { return p.Validate(typeName, config) },
		"read unchanged": func() []*tfprotov6.Diagnostic { _, diags := p.Read(typeName, o); return diags },
		"read changed":   func() []*tfprotov6.Diagnostic { _, diags := p.Read(typeName, outdated); return diags },
		"plan create":    func() []*tfprotov6.Diagnostic { _, diags := p.Plan(typeName, config, nil); return diags },
		"plan unchanged": func() []*tfprotov6.Diagnostic { _, diags := p.Plan(typeName, config, o); return diags },
		"plan update":    func() []*tfprotov6.Diagnostic { _, diags := p.Plan(typeName, config, outdated); return diags },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p.Together()
			for b.Loop() {
				p.NoErrors(call())
			}
		})
	}
}
