// Package csvfile writes CSV files that are safe to open in a spreadsheet.
package csvfile

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"unicode"
)

// Writer writes rows that end in CRLF (RFC 4180). encoding/csv changes line breaks within a
// cell.
type Writer struct {
	out *bufio.Writer
	row bytes.Buffer
	csv *csv.Writer
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	w := &Writer{out: bufio.NewWriter(out)}
	w.csv = csv.NewWriter(&w.row)
	return w
}

// Write writes a row. It changes the cells so that a spreadsheet runs none as a formula.
func (w *Writer) Write(cells ...string) error {
	for i, cell := range cells {
		cells[i] = neutral(cell)
	}
	w.row.Reset()
	_ = w.csv.Write(cells) // into memory
	w.csv.Flush()
	w.row.Truncate(w.row.Len() - len("\n"))
	w.row.WriteString("\r\n")
	_, err := w.row.WriteTo(w.out)
	return err
}

// Flush writes the rows that are buffered.
func (w *Writer) Flush() error { return w.out.Flush() }

// formulaSigns begin a formula in a spreadsheet; some take the full-width signs
// for the plain ones.
const formulaSigns = "=+-@＝＋－＠"

// cellSeparators are where a spreadsheet may split a line, depending on its locale
// and settings.
const cellSeparators = ",;|\t\r\n\v\f\u0085\u2028\u2029"

// IsFormula reports whether a spreadsheet would run a cell, or what it splits off it, as a
// formula.
func IsFormula(cell string) bool { return neutral(cell) != cell }

// neutral puts an apostrophe before each formula in a cell, as OWASP advises on CSV injection.
// Quotes would not do: a spreadsheet that splits at a semicolon ignores those of a cell between
// commas. Spaces, quotes and invisible characters before the sign don't make it harmless.
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
		case r != '"' && !unicode.In(r, unicode.Z, unicode.Cf):
			blank = false
		}
	}
	return b.String() + cell[written:]
}
