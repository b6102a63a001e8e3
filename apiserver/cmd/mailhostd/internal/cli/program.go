// Package cli is shared by the commands of mailhostd: the program with its inputs and outputs, the environment
// variable of each flag, access to an account (target.go) or a database (database.go), and output (output.go).
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

// Program is the program with its inputs and outputs, so that a test can run it in process.
type Program struct {
	Args []string
	// Environ is the environment in the form of os.Environ.
	Environ []string
	// Stdin is read for confirmations if it is a terminal; nil disables questions.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// ReleaseVersion is set by a release build; if empty, the version comes from Go's build info.
	ReleaseVersion string
	// Opened lists the resources to close when the command ends.
	Opened *[]io.Closer
}

// CloseLater closes c when the command ends.
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

// ExitError ends the program with an exit code other than ExitFailure. Without an Err, it prints nothing.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string { return fmt.Sprint(e.Err) }

func (e *ExitError) Unwrap() error { return e.Err }

// UsageError returns the error for an invalid command line.
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

// VariableOf returns the name of the environment variable for a flag. The tag "variable" sets another
// name; "-" means none, for a choice of one command, such as --json.
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
