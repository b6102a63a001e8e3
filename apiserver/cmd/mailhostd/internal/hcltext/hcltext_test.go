package hcltext_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/hcltext"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"example.com":     {"example_com", `"example.com"`},
		"3M (Zürich)":     {"_3m_zürich", `"3M (Zürich)"`},
		"-":               {"_-", `"-"`},
		"%{a}${b}\"\n\\c": {"a_b_c", `"%%{a}$${b}\"\n\\c"`},
		"":                {"_", `""`},
	} {
		got := [2]string{hcltext.Label(text), hcltext.Quote(text)}
		assert.Check(t, got == want, "%q is %q, want %q", text, got, want)
	}
}
