// Package acctest provides an API server for each acceptance test, in process on loopback,
// and the provider, either in a Terraform or OpenTofu CLI or called directly through the
// plugin protocol.
//
//   - [Providers] is the provider for terraform-plugin-testing, which runs a test case in
//     the real CLI if TF_ACC is set. [Modes] runs a test a second time against a server
//     that offers only the published operations.
//   - [Server] is the API server with one account; its methods create objects outside of
//     Terraform, inject faults and rewrite responses.
//   - [Protocol] calls the provider as Terraform does, without a CLI, with the package core.
//     It returns diagnostics and identities, which a test through an old CLI can't see.
package acctest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/provider"
)

// Providers returns the factory of the provider, in the test's process.
func Providers() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"mailhost": provider.Factory(provider.New("test")()),
	}
}

// Modes runs a test against a server with all operations, and against a server with only the
// published operations.
func Modes(t *testing.T, test func(t *testing.T, s *Server)) {
	for name, publishedOnly := range map[string]bool{"full": false, "published": true} {
		t.Run(name, func(t *testing.T) { test(t, NewServer(t, Options{PublishedOnly: publishedOnly})) })
	}
}

// Expect fails the test unless the rendered diagnostics contain all parts in this order.
func Expect(t testing.TB, diags []*tfprotov6.Diagnostic, parts ...string) {
	t.Helper()
	ExpectText(t, Render(diags), parts...)
}

// ExpectText fails the test unless text contains all parts in this order.
func ExpectText(t testing.TB, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, part := range parts {
		_, after, ok := strings.Cut(rest, part)
		assert.Assert(t, ok, "%q is missing in:\n%s", part, text)
		rest = after
	}
}

// Render formats diagnostics, each with severity, attribute, summary and detail.
func Render(diags []*tfprotov6.Diagnostic) string {
	var b bytes.Buffer
	for _, d := range diags {
		fmt.Fprintf(&b, "%s", d.Severity)
		if d.Attribute != nil && len(d.Attribute.Steps()) > 0 {
			fmt.Fprintf(&b, " at %s", d.Attribute)
		}
		fmt.Fprintf(&b, ": %s\n%s\n\n", d.Summary, d.Detail)
	}
	return b.String()
}

// Errors returns the number of errors among the diagnostics.
func Errors(diags []*tfprotov6.Diagnostic) (n int) {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			n++
		}
	}
	return n
}
