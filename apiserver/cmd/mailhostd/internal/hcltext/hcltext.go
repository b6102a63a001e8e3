// Package hcltext formats the parts of Terraform's configuration language that commands write.
package hcltext

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/text/unicode/norm"
)

// Quote returns a string as a literal without templates.
func Quote(s string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

// Label returns a name for a resource, such as example_com for example.com.
func Label(s string) string {
	name := strings.Join(strings.FieldsFunc(norm.NFC.String(strings.ToLower(s)), func(r rune) bool {
		return r == '_' || !hclsyntax.ValidIdentifier("_"+string(r))
	}), "_")
	if !hclsyntax.ValidIdentifier(name) {
		return "_" + name
	}
	return name
}
