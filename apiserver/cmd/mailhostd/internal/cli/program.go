// Package cli has what the commands of mailhostd share: the program with its inputs and
// outputs, the environment variable of each flag, how a command reaches an account (target.go)
// or opens a database (database.go), and how it prints what it returns (output.go).
package cli

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

const (
	ExitOK = iota
	ExitFailure
	ExitUsage
)

// Program is the program with its inputs and outputs, so that a test can run it in
// process.
type Program struct {
	Args []string
	// Environ is the environment in the form of os.Environ.
	Environ []string
	// Stdin is read for confirmations if it is a terminal; nil: there are no questions.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// ReleaseVersion is set by a release build; empty: the version is in Go's build info.
	ReleaseVersion string
	// Opened is what the command has opened. It is closed when the command has ended.
	Opened *[]io.Closer
}

// CloseLater closes c when the command has ended.
func (p Program) CloseLater(c io.Closer) { *p.Opened = append(*p.Opened, c) }

func (p Program) Version() string {
	if p.ReleaseVersion != "" {
		return p.ReleaseVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// ExitError ends the program with another exit code than ExitFailure. Without an Err, nothing is
// printed.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string { return fmt.Sprint(e.Err) }

func (e *ExitError) Unwrap() error { return e.Err }

// UsageError returns the error of an invalid command line.
func UsageError(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

func variable(flag string) string {
	return "MAILHOSTD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func Variables(environ []string) map[string]string {
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	return values
}

func (p Program) variable(name string) string { return Variables(p.Environ)[name] }

// VariableOf returns the name of the variable that sets a flag, or "": what is a choice of
// one command, such as --json, has none. The tag "variable" has another name, or "-".
func VariableOf(flag *kong.Value) string {
	if flag.Flag == nil { // an argument
		return ""
	}
	switch name := flag.Tag.Get("variable"); name {
	case "":
		return variable(flag.Name)
	case "-":
		return ""
	default:
		return name
	}
}
