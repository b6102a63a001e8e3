// Package csvfile makes the cells of CSV files safe to open in a spreadsheet.
package csvfile

import (
	"strings"
	"unicode"
)

// Neutral changes the cells of a row so that a spreadsheet runs none as a formula.
func Neutral(cells ...string) []string {
	for i, cell := range cells {
		cells[i] = neutral(cell)
	}
	return cells
}

// formulaSigns begin a formula in a spreadsheet. Some spreadsheets treat the full-width signs like
// the plain signs.
const formulaSigns = "=+-@＝＋－＠"

// cellSeparators are the characters at which a spreadsheet may split a line, depending on its
// locale and settings.
const cellSeparators = ",;|\t\r\n\v\f\u0085\u2028\u2029"

// IsFormula reports whether a spreadsheet would run a cell, or a part split off the cell, as a
// formula.
func IsFormula(cell string) bool { return neutral(cell) != cell }

// neutral puts an apostrophe before each formula in a cell, as OWASP advises on CSV injection.
// Quotes are not enough: a spreadsheet that splits at a semicolon ignores the quotes of a cell
// between commas. Spaces, quotes and invisible characters before the sign don't make it harmless.
func neutral(cell string) string {
	var b strings.Builder
	written, start, blank := 0, 0, true
	mark := func() {
		b.WriteString(cell[written:start])
		b.WriteByte('\'')
		written, blank = start, false
	}
	for i, r := range cell {
		switch {
		case strings.ContainsRune(cellSeparators, r):
			if i == 0 && unicode.IsControl(r) {
				mark()
			}
			start, blank = i+len(string(r)), true
		case blank && strings.ContainsRune(formulaSigns, r):
			mark()
		case blank && r != '"' && !unicode.In(r, unicode.Z, unicode.Cf):
			blank = false
		}
	}
	return b.String() + cell[written:]
}
