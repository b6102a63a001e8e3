package dnsrecord_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestEncodedText checks that a plan warns about a new text with another program's encoding, and only
// while it is new.
func TestEncodedText(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{})
	s.Domain(t, "example.com")
	p := s.Protocol(t, "")
	const summary = `WARNING at AttributeName("value"): The TXT record key._domainkey of example.com seems to be encoded`
	plan := func(value any, o *acctest.Object, isWarned bool) {
		t.Helper()
		_, diags := p.Walk().Plan(typeName, txt("key._domainkey.example.com", value), o)
		p.NoErrors(diags)
		text := acctest.Render(diags)
		assert.Check(t, strings.Contains(text, summary) == isWarned, "%v: %s", value, text)
		if isWarned {
			acctest.Expect(t, diags, "\n  - The text contains \\;, an escape of zone files\n", "write the plain text")
		}
	}
	const encoded = `v=DKIM1\; k=rsa; p=AAAABBBB`
	plan(encoded, nil, true)
	plan(acctest.Unknown, nil, false)
	plan(`"v=DKIM1\; k=rsa; " "p=AAAABBBB"`, nil, false)
	o, diags := p.Apply(t.Context(), typeName, txt("key._domainkey.example.com", encoded), nil)
	p.NoErrors(diags)
	plan(encoded, o, false)
	plan(`"v=DKIM1\\; k=rsa; " "p=AAAABBBB"`, o, false) // another spelling
	plan(`v=DKIM1\; k=rsa; p=`, o, true)
	plan("v=DKIM1; k=rsa; p=", o, false)
}
