package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/term"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// This file contains the output of commands: text for people on a terminal, and JSON for programs. Both may contain
// text of another server; see Escaped.

type OutputFlags struct {
	JSON *bool `name:"json" negatable:"" variable:"-" help:"Print JSON; --no-json prints text. Default: text on a terminal, JSON elsewhere."`
}

// AsJSON reports whether to print JSON.
func (f OutputFlags) AsJSON(p Program) bool {
	if f.JSON != nil {
		return *f.JSON
	}
	return !IsTerminal(p.Stdout)
}

// Print prints v as JSON, or calls text to print it for people.
func (f OutputFlags) Print(p Program, v any, text func(io.Writer)) error {
	if !f.AsJSON(p) {
		return PrintText(p, text)
	}
	enc := json.NewEncoder(p.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// PrintText calls text with a buffered writer, and returns the first error of a write.
func PrintText(p Program, text func(io.Writer)) error {
	out := bufio.NewWriter(p.Stdout)
	text(out)
	return out.Flush()
}

// PrintOnce calls print, whose output can't be printed again because it contains a secret. If print fails,
// the error contains lost: what exists now, and the command that undoes it. A closed pipe is such an error,
// and does not end the program; so is the null device.
func PrintOnce(p Program, lost string, print func() error) error {
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	defer signal.Stop(closed)
	err := errNull
	if !isNull(Raw(p.Stdout)) {
		err = print()
	}
	if err != nil {
		return fmt.Errorf("the output can't be written: %w; %s", err, lost)
	}
	return nil
}

var errNull = errors.New("standard output is closed, or is " + os.DevNull)

// isNull reports whether stream discards its output. The Go runtime opens the null device in place of a
// closed standard output.
func isNull(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	null, nullErr := os.Stat(os.DevNull)
	return err == nil && nullErr == nil && os.SameFile(info, null)
}

// PrintTable is Print with a table. The first row is the header. It prints the sentence none for an empty table.
func (f OutputFlags) PrintTable(p Program, v any, none string, rows [][]string) error {
	return f.Print(p, v, func(w io.Writer) {
		if len(rows) < 2 {
			fmt.Fprintln(w, none)
			return
		}
		WriteTable(w, rows)
	})
}

// WriteTable prints rows as columns, with a dash for an empty cell. PrintText returns the errors of w.
func WriteTable(w io.Writer, rows [][]string) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = cmp.Or(Printable(strings.TrimSpace(cell)), "-")
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush()
}

// IsTerminal reports whether an input or output of the program is a terminal.
func IsTerminal(stream any) bool {
	if w, ok := stream.(io.Writer); ok {
		stream = Raw(w)
	}
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Printable quotes text that could end the line or its cell, or change the terminal.
func Printable(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, text.IsUnsafe) {
		return s
	}
	return strconv.Quote(s)
}

// Minute formats a time of the API to the minute, in UTC, and null as "".
func Minute(timestamp *string) string {
	t, err := time.Parse(api.TimestampLayout, api.Value(timestamp))
	if err != nil {
		return api.Value(timestamp)
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// Counted returns a number with its noun, such as "1 token", "3 tokens" or "2 mailboxes".
func Counted(n int, noun string) string {
	return strconv.Itoa(n) + " " + english.PluralWord(n, noun, "")
}

// WriteNew writes a file that must not exist.
func WriteNew(path string, content []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// ShowProgress returns a function that shows progress on a terminal, and a function that ends it.
func ShowProgress(w io.Writer, doing string) (progress func(done, total int64), end func()) {
	if !IsTerminal(w) {
		return func(int64, int64) {}, func() {}
	}
	w = Raw(w) // its carriage return begins the line again
	shown := false
	progress = func(done, total int64) {
		shown = true
		fmt.Fprintf(w, "\r%s: %d of %d", doing, done, total)
	}
	return progress, func() {
		if shown {
			fmt.Fprintln(w)
		}
	}
}
