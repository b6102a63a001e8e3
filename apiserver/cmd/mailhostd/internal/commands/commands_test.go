package commands_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

// TestTranscript checks the output, and the refused command lines.
func TestTranscript(t *testing.T) {
	for _, name := range []string{"commands", "call"} {
		t.Run(name, func(t *testing.T) { mailhostdtest.Transcript(t, "testdata/"+name+".txt") })
	}
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args      []string
		lifecycle bool
	}{{[]string{"openapi"}, true}, {[]string{"openapi", "--published-only"}, false}} {
		want := httpapi.Document(tt.lifecycle)
		if code, stdout, stderr := mailhostdtest.Run(t, tt.args...); code != cli.ExitOK || stdout != string(want) || stderr != "" {
			t.Errorf("%v: exit code %d, %d bytes, stderr %q; want the %d bytes of the contract", tt.args, code, len(stdout), stderr, len(want))
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, _ := mailhostdtest.Run(t, "serve", "--version")
	assert.Check(t, code == cli.ExitOK && strings.HasPrefix(stdout, "mailhostd ") && strings.Contains(stdout, " (go"), "exit code %d, %s", code, stdout)
}

func TestMain(m *testing.M) { mailhostdtest.Main(m) }

// TestCompletion checks the completions of command lines.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"mailhostd tok":                      {"token"},
		"mailhostd token ":                   {"create", "list", "revoke"},
		"mailhostd serve --smtp":             {"--smtp-from", "--smtp-url"},
		"mailhostd serve --log-format ":      {"json", "text"},
		"mailhostd completion ":              {"bash", "fish", "zsh"},
		"mailhostd token create --plan-only": {"--plan-only"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), mailhostdtest.AsProgram+"=1", "COMP_LINE="+line)
		out, err := cmd.Output()
		got := strings.Fields(string(out))
		slices.Sort(got)
		assert.Check(t, err == nil && slices.Equal(got, want), "%q is completed by %q, want %q; %v", line, got, want, err)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, stdout, stderr := mailhostdtest.Run(t, "completion", shell)
		assert.Check(t, code == cli.ExitOK && strings.Contains(stdout, "mailhostd"), "%s: exit code %d, %q, %q", shell, code, stdout, stderr)
	}
}

// TestManualPage checks that the manual page contains every command and flag, and only macros of man(7).
func TestManualPage(t *testing.T) {
	t.Parallel()
	code, page, stderr := mailhostdtest.Run(t, "man")
	assert.Assert(t, code == cli.ExitOK, "exit code %d: %s", code, stderr)
	for _, want := range []string{
		".SS mailhostd init [flags]\n", ".SS mailhostd token create <name> [flags]\nCreate a service account and print its token.\n",
		".TP\n.B \\-\\-plan\\-only\n", ".B \\-\\-listen=ADDRESS\nAddress of the API", "($MAILHOSTD_LISTEN)",
	} {
		assert.Check(t, strings.Contains(page, want), "the page has no %q", want)
	}
	for line := range strings.Lines(page) {
		macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		assert.Check(t, !strings.HasPrefix(macro, ".") || slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"}, macro), "%q is a macro", line)
	}
}
