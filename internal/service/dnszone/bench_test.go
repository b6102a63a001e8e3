package dnszone_test

import (
	"fmt"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// BenchmarkZone measures a zone of n names with an address each: the validation with the
// plan of a create, the refresh and the second plan. Each must grow with n and
// not with its square.
func BenchmarkZone(b *testing.B) {
	for _, n := range []int{500, 1000, 2000} {
		s := acctest.NewServer(b, acctest.Options{})
		s.Domain(b, "example.com")
		records := make(map[string]any, n)
		for i := range n {
			records[fmt.Sprintf("host%d A", i)] = entry(fmt.Sprintf("192.0.2.%d", i%250))
		}
		config := zoneOf(records)
		p := s.Protocol(b, "")
		b.Run(fmt.Sprintf("plan/%d", n), func(b *testing.B) {
			for b.Loop() {
				p.NoErrors(p.Validate(typeName, config))
				_, diags := p.Plan(typeName, config, nil)
				p.NoErrors(diags)
			}
		})
		o, diags := p.Apply(b.Context(), typeName, config, nil)
		p.NoErrors(diags)
		b.Run(fmt.Sprintf("refresh/%d", n), func(b *testing.B) {
			for b.Loop() {
				o = refreshed(p, o)
			}
		})
		b.Run(fmt.Sprintf("second/%d", n), func(b *testing.B) {
			for b.Loop() {
				p.NoErrors(p.Validate(typeName, config))
				_, diags := p.Plan(typeName, config, o)
				p.NoErrors(diags)
			}
		})
	}
}
