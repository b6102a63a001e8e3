// Package hcltext formats the parts of Terraform's configuration language that commands write.
package hcltext

import (
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Quote returns a string as a literal without templates.
func Quote(s string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(s)).Bytes())
}

// Label returns a name for a resource, such as example_com for example.com.
func Label(s string) string {
	name := strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-'
	}), "_")
	if name == "" || !unicode.IsLetter([]rune(name)[0]) {
		return "_" + name
	}
	return name
}
