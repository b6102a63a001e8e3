package csvfile

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestNeutralCells(t *testing.T) {
	for cell, want := range map[string]string{
		"plain": "plain", "": "", "a=b": "a=b", "a-b; c": "a-b; c", "'quoted": "'quoted", `a"b,c`: `a"b,c`, "x;'=1": "x;'=1", "a|b": "a|b",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "＝1": "'＝1", "＠SUM(A1)": "'＠SUM(A1)",
		"\t1": "'\t1", "\r1": "'\r1", "\n1": "'\n1", "\t=1": "'\t'=1",
		"a;=1": "a;'=1", "a\t+1": "a\t'+1", "a,@x": "a,'@x", "a|-1": "a|'-1", "a\r\n=1": "a\r\n'=1", "a;＋1": "a;'＋1",
		"a; =1": "a;' =1", `a;"=1"`: `a;'"=1"`, "a;\u00a0\u200b\ufeff=1": "a;'\u00a0\u200b\ufeff=1", ";;=1;-2": ";;'=1;'-2", " =1": "' =1",
	} {
		assert.Check(t, is.Equal(neutral(cell), want), "%q becomes", cell)
	}
	// A literal, so that a separator missing from cellSeparators is noticed.
	for _, r := range ",;|\t\r\n\v\f\u0085\u2028\u2029" {
		cell, want := "a"+string(r)+"=1", "a"+string(r)+"'=1"
		assert.Check(t, is.Equal(neutral(cell), want), "%q becomes", cell)
	}
}

// FuzzNeutral checks that no part of a cell split at any separator begins with a formula sign, and
// that the cell without the apostrophes is the original.
func FuzzNeutral(f *testing.F) {
	f.Add("a;=1\t+2|-3,@4\r\n＝5")
	f.Add(`"";" =x`)
	f.Fuzz(func(t *testing.T, cell string) {
		got := neutral(cell)
		assert.Check(t, strings.ReplaceAll(got, "'", "") == strings.ReplaceAll(cell, "'", ""), "%q becomes %q, which has another text", cell, got)
		again := neutral(got)
		assert.Check(t, again == got || strings.ContainsAny(cell[:1], "\t\r\n\v\f"), "%q becomes %q, and then %q", cell, got, again)
		for _, separator := range cellSeparators {
			for part := range strings.SplitSeq(got, string(separator)) {
				if part = strings.TrimLeft(part, "\" \u00a0\u200b\ufeff"); part != "" && strings.ContainsRune(formulaSigns, []rune(part)[0]) {
					t.Errorf("%q becomes %q; split at %q, it has the formula %q", cell, got, separator, part)
				}
			}
		}
	})
}
