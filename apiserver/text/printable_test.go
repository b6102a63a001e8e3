package text

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
)

func TestIsUnsafe(t *testing.T) {
	for _, r := range "\x00\t\n\r\x1b\x7f\u0080\u0085\u009f\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2067\u2068\u2069" {
		assert.Check(t, IsUnsafe(r), "%U", r)
	}
	for _, r := range "aé א ش \u200b\u200c\u200d\ufe0f\u00ad\u0301\ufeff👩�\U000e0062\ue000" {
		assert.Check(t, !IsUnsafe(r), "%U", r)
	}
}

// FuzzAppendPrintable checks that no unsafe character is left, that the parts in which a text is written don't
// matter, and that JSON keeps its value.
func FuzzAppendPrintable(f *testing.F) {
	for _, s := range []string{"a\r\nb\rc\r", "\x1b[31m\u202e\u009b\xff\xe2\x80", `{"name":"` + "\u202e\x7f" + `👩‍👧"}`, "é\xc3"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		whole := PrintableLines(s)
		assert.Check(t, utf8.ValidString(whole))
		assert.Check(t, !strings.ContainsFunc(strings.ReplaceAll(whole, "\r\n", ""), func(r rune) bool { return IsUnsafe(r) && r != '\n' && r != '\t' }), "%q", whole)
		var parts, rest []byte
		for part := range slices.Chunk([]byte(s), max(n%8, 1)) {
			parts, rest = AppendPrintable(parts, append(bytes.Clone(rest), part...))
		}
		assert.Check(t, string(AppendRest(parts, rest)) == whole, "in parts %q, in one %q", parts, whole)
		var before, after any
		if !strings.Contains(s, "\r") && utf8.ValidString(s) && json.Unmarshal([]byte(s), &before) == nil {
			assert.Check(t, json.Unmarshal([]byte(whole), &after) == nil && reflect.DeepEqual(before, after), "%q is not the value of %q", whole, s)
		}
	})
}
