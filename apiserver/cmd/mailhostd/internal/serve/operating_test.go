package serve_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

const (
	operatingGuide   = "../../../../../templates/guides/operating.md"
	operatingSamples = "../../../../../examples/operating"
)

// TestOperatingGuide checks that the operators' guide and the files to copy name variables, metrics and
// log messages of this program.
func TestOperatingGuide(t *testing.T) {
	t.Parallel()
	guide := readFile(t, operatingGuide)
	copied := guide
	samples, err := os.ReadDir(operatingSamples)
	assert.NilError(t, err)
	for _, s := range samples {
		assert.Check(t, s.Name() == "README.md" || strings.Contains(guide, "/examples/operating/"+s.Name()+")"), "the guide does not link %s", s.Name())
		copied += readFile(t, filepath.Join(operatingSamples, s.Name()))
	}

	_, help, _ := mailhostdtest.Run(t, "serve", "--help")
	for _, name := range regexp.MustCompile(`MAILHOSTD_[A-Z_]+`).FindAllString(copied, -1) {
		assert.Check(t, strings.Contains(help, "$"+name+")"), "mailhostd serve has no variable %s", name)
	}

	served := "mailhostd_http_requests_aborted_total mailhostd_tls_certificate_expiry_timestamp_seconds\n" + servedMetrics(t)
	for _, name := range regexp.MustCompile(`\bmailhostd_[a-z_]+`).FindAllString(copied, -1) {
		assert.Check(t, strings.Contains(served, name), "there is no metric %s", name)
	}

	_, table, _ := strings.Cut(guide, "\n## Metrics and alerts\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\w+)`).FindAllStringSubmatch(served, -1) {
		prefix, _, _ := strings.Cut(m[1], "_")
		assert.Check(t, strings.Contains(table, "`"+m[1]+"`") || strings.Contains(table, "`"+prefix+"_…`"), "the guide's table lacks the metric %s", m[1])
	}

	_, table, _ = strings.Cut(guide, "\n## Messages\n")
	messages := regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(table, -1)
	assert.Assert(t, len(messages) >= 10, "the table has %d messages", len(messages))
	source := sourceOf(t, "../../../..")
	for _, m := range messages {
		for part := range strings.SplitSeq(m[1], "…") {
			assert.Check(t, strings.Contains(source, strings.TrimSpace(part)), "no message has %q", part)
		}
	}
}

// servedMetrics returns a server's metrics after a request, without a certificate and without an aborted request.
func servedMetrics(t *testing.T) string {
	t.Helper()
	s, owner := mailhostdtest.Start(t, "--metrics-listen", "0")
	at, _ := s.Log.Wait(t, "serving metrics")["url"].(string)
	s.As(t, owner).Get("/mailboxes").Want(http.StatusOK)
	_, text := mailhostdtest.Fetch(t, http.MethodGet, at)
	return text
}

// sourceOf returns the source of a folder, without tests.
func sourceOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			all.WriteString(readFile(t, path))
		}
		return err
	})
	assert.NilError(t, err)
	return all.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	return string(text)
}

// TestSignalEndsTheServer checks that SIGTERM and SIGINT end a server, but SIGHUP does not, even without
// a certificate.
func TestSignalEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			database, owner := mailhostdtest.Initialize(t)
			s := mailhostdtest.Spawn(t, database)
			hangUp(t, s)
			s.Log.Wait(t, "there is nothing to reload")
			s.As(t, owner).Get("/mailboxes").Want(http.StatusOK)
			assert.NilError(t, s.Cmd.Process.Signal(signal))
			assert.Check(t, is.Equal(s.ExitCode(t), cli.ExitOK), "exit code")
			s.Log.Wait(t, "shut down")
		})
	}
}

func TestSecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Spawn(t, database, "--shutdown-timeout", "1h")
	s.As(t, owner).Domain("example.com")
	begin(t, s, owner, mailhostdtest.Mailbox("example.com", "never"))
	assert.NilError(t, s.Cmd.Process.Signal(syscall.SIGTERM))
	s.Log.Wait(t, "shutting down")
	assert.NilError(t, s.Cmd.Process.Signal(syscall.SIGTERM))
	s.ExitCode(t)
	status, ok := s.Cmd.ProcessState.Sys().(syscall.WaitStatus)
	assert.Check(t, ok && status.Signal() == syscall.SIGTERM, "%v; want an end by signal", s.Cmd.ProcessState)
	assert.Check(t, !strings.Contains(s.Log.String(), "goroutine "), "log:\n%s", s.Log)
}

func TestMain(m *testing.M) { mailhostdtest.Main(m) }
