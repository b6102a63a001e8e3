package cli

import (
	"bytes"
	"io"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// Escaped is an output of the program that shows control and bidi characters in the form \u202e, also across writes:
// text of another server changes neither the terminal nor what a person reads there. JSON keeps its values, and so
// do all files of an API that keeps to the contract, because names can't contain such characters. It is safe for
// concurrent use.
type Escaped struct {
	w    io.Writer
	mu   sync.Mutex
	rest []byte // of the last write, see text.AppendPrintable
}

func NewEscaped(w io.Writer) *Escaped { return &Escaped{w: w} }

// Raw returns the output below an Escaped, for output of this program alone.
func Raw(w io.Writer) io.Writer {
	if e, ok := w.(*Escaped); ok {
		return e.w
	}
	return w
}

// Write implements io.Writer.
func (e *Escaped) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := p
	if len(e.rest) > 0 {
		all = append(e.rest, p...)
	}
	printable, rest := text.AppendPrintable(make([]byte, 0, len(all)), all)
	if len(printable) > 0 {
		if _, err := e.w.Write(printable); err != nil {
			return 0, err
		}
	}
	e.rest = bytes.Clone(rest)
	return len(p), nil
}

// Close writes what is left of the last write. It does not close the output.
func (e *Escaped) Close() (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.rest) > 0 {
		_, err = e.w.Write(text.AppendRest(nil, e.rest))
		e.rest = nil
	}
	return err
}
