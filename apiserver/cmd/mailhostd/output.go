package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// This file has how commands print what they return: for people on a terminal, and as
// JSON for programs.

// outputFlags choose how a command prints its result.
type outputFlags struct {
	JSON *bool `name:"json" negatable:"" variable:"-" help:"Print JSON; --no-json prints text. Default: text on a terminal, JSON elsewhere."`
}

// asJSON reports whether to print JSON.
func (f outputFlags) asJSON(m Main) bool {
	if f.JSON != nil {
		return *f.JSON
	}
	return !isTerminal(m.Stdout)
}

// print prints v as JSON, or calls text, which prints the same for people.
func (f outputFlags) print(m Main, v any, text func(io.Writer) error) error {
	if !f.asJSON(m) {
		return text(m.Stdout)
	}
	enc := json.NewEncoder(m.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printTable is print with a table. Its first row is the header. An empty table is the
// sentence none.
func (f outputFlags) printTable(m Main, v any, none string, rows [][]string) error {
	return f.print(m, v, func(w io.Writer) error {
		if len(rows) < 2 {
			_, err := fmt.Fprintln(w, none)
			return err
		}
		return writeTable(w, rows)
	})
}

// writeTable prints rows with aligned columns.
func writeTable(w io.Writer, rows [][]string) error {
	columns := newColumns(w)
	for _, row := range rows {
		if err := writeRow(columns, row); err != nil {
			return err
		}
	}
	return columns.Flush()
}

func newColumns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// writeRow prints a row to the columns. A dash stands for an empty cell.
func writeRow(columns io.Writer, cells []string) error {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = cmp.Or(printable(strings.TrimSpace(cell)), "-")
	}
	_, err := fmt.Fprintln(columns, strings.Join(row, "\t"))
	return err
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// printable quotes text with control characters, which could change the terminal or
// end the line.
func printable(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return s
	}
	return strconv.Quote(s)
}

// minute returns a time of the API to the minute, in UTC, and "" for null.
func minute(timestamp *string) string {
	if timestamp == nil {
		return ""
	}
	t, err := time.Parse(api.TimestampLayout, *timestamp)
	if err != nil {
		return *timestamp
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// counted returns a number with its noun, such as "1 token" or "3 tokens".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// showProgress returns a function that shows how much is done, and one that ends it. Only a
// terminal shows it.
func showProgress(w io.Writer, doing string) (progress func(done, total int64), end func()) {
	if !isTerminal(w) {
		return func(int64, int64) {}, func() {}
	}
	var bar *progressbar.ProgressBar
	return func(done, total int64) {
			if bar == nil {
				bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(doing),
					progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionShowCount(), progressbar.OptionFullWidth())
			}
			_ = bar.Set64(done)
		}, func() {
			if bar != nil {
				_ = bar.Exit()
				fmt.Fprintln(w)
			}
		}
}
