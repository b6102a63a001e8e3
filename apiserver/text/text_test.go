package text

import (
	"testing"
	"unicode"

	"gotest.tools/v3/assert"
)

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"ΟΔΟΣ", "Οδος", "οδοσ"}, {"é", "e\u0301", "É", "E\u0301"}, {"Straße", "STRASSE", "straSSe"}, {"ﬁ", "FI"}, {"Å", "Å", "A\u030a"},
		{"ᾳ\u0345", "α\u0345\u0345"}, {"한", "\u1112\u1161\u11ab"}, {"ǆ", "Ǆ", "ǅ"}, {"Jane", "JANE"}, {"", ""}, {"Ᏼ", "ᏼ"}, {"Ꭰ", "ꭰ"},
	} {
		for _, s := range same {
			if got, want := Fold(s), Fold(same[0]); got != want || Fold(got) != got {
				t.Errorf("Fold(%q) = %q, folded again %q; want %q", s, got, Fold(got), want)
			}
		}
	}
	for _, different := range [][2]string{{"a", "á"}, {"a", "b"}, {"1", "١"}, {"i", "ı"}} {
		assert.Check(t, Fold(different[0]) != Fold(different[1]), "%q and %q fold to the same text", different[0], different[1])
	}
}

// TestFoldOfEveryCharacter checks that each character and its other cases fold to the same form.
func TestFoldOfEveryCharacter(t *testing.T) {
	for r := range rune(0x30000) { // no character beyond has a case or a decomposition
		want := Fold(string(r))
		assert.Check(t, Fold(want) == want, "Fold(%q) = %q, folded again %q", r, want, Fold(want))
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			got := Fold(string(other))
			assert.Check(t, got == want, "Fold(%q) = %q, Fold(%q) = %q", other, got, r, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, s := range []string{"", "Jane", "Zoë", "Zoe\u0308", "नेपाली", "ن\u200cام", "👩\u200d👧", " ", "שרה", "🏴\U000e0067\U000e0062\U000e007f", "\u00ada"} {
		assert.Check(t, CheckName(s), "%q", s)
	}
	for _, s := range []string{
		"\x00", "a\nb", "a\tb", "a\r", "\x1b[31m", "a\x7f", "a\u0085", "a\u009f", "a\u202eb", "\u2066a\u2069", "a\u200f", "\u061ca",
		"\u200b", "\u200b\u200d\ufeff", "\u00ad", "\ufe0f", "\u0301", "\u3164", "\u2060", "\U000e0061", "\u034f",
	} {
		assert.Check(t, CheckName(s) != nil, "%q is accepted", s)
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r < 0x20 || 0x7f <= r && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r) {
			assert.Check(t, CheckName("a"+string(r)+"b") != nil, "%U is accepted", r)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("ΟΔΟΣ e\u0301 ß")
	f.Fuzz(func(t *testing.T, s string) {
		got := Fold(s)
		assert.Check(t, Fold(got) == got, "%q folds to %q, and then to %q", s, got, Fold(got))
	})
}
