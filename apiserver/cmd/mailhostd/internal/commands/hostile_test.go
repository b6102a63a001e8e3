package commands_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
)

// hostileText contains each unsafe character but the line break and the tab, and letters that stay readable.
var hostileText = func() string {
	b := []rune("👩‍👧 שלום ")
	for r := range rune(0x3000) {
		if text.IsUnsafe(r) && r != '\n' && r != '\t' {
			b = append(b, r)
		}
	}
	return string(b)
}()

// hostileAPI is a proxy that adds hostileText to the responses of an API.
type hostileAPI struct {
	target string
	// members are the names of the members with the text, separated by spaces; "all" adds the text after the response.
	members string
	// refuse makes each response an error.
	refuse bool
	// names collects the names of the members that contain text.
	names map[string]bool
}

func (h *hostileAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Scheme, r.URL.Host, r.RequestURI = "http", h.target, ""
	r.Header.Del("Accept-Encoding")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	var content any
	switch {
	case h.refuse:
		resp.StatusCode = http.StatusBadRequest
		resp.Header.Set("X-Request-Id", "\u202e\u009b")
		body = rawJSON(map[string]any{"detail": []any{map[string]any{"loc": []string{"body", hostileText}, "msg": hostileText, "type": hostileText}}})
	case h.members == "all":
		body = append(body, hostileText...)
	case json.Unmarshal(body, &content) == nil:
		body = rawJSON(h.spoil("", content))
	}
	maps.Copy(w.Header(), resp.Header)
	w.Header().Del("Content-Length")
	w.WriteHeader(resp.StatusCode)
	_, _ = w.Write(body)
}

// spoil adds the text to the members of a JSON value.
func (h *hostileAPI) spoil(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			value[key] = h.spoil(key, member)
		}
	case []any:
		for i, element := range value {
			value[i] = h.spoil(name, element)
		}
	case string:
		if h.names[name] = true; slices.Contains(strings.Fields(h.members), name) {
			return value + hostileText
		}
	}
	return value
}

// rawJSON returns the JSON of a value with as few escapes as JSON permits.
func rawJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return []byte(strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(b.String()))
}

// TestNoCommandPrintsUnsafeCharacters runs commands with an API whose texts are hostile, and looks for control and
// bidi characters in their output.
func TestNoCommandPrintsUnsafeCharacters(t *testing.T) {
	t.Parallel()
	s, owner := mailhostdtest.Start(t)
	c := s.As(t, owner)
	c.Domain("example.com")
	c.Do(http.MethodPost, "/mailboxes", mailhostdtest.Mailbox("example.com", "jane")).Want(http.StatusCreated)
	c.Do(http.MethodPost, "/forwarding", `{"domain":"example.com","target_email":"jane@example.com"}`).Want(http.StatusCreated)
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"x@example.org"}`)
	users := filepath.Join(t.TempDir(), "users.csv")
	mailhostdtest.WriteFile(t, users, "address,first_name,last_name\njane@example.com,Jane,Doe\nx@example.com,"+hostileText+",B\n")
	h := &hostileAPI{target: strings.TrimPrefix(s.URL, "http://"), names: map[string]bool{}}
	proxy := httptest.NewServer(h)
	defer proxy.Close()
	environ := []string{"MAILHOST_BASE_URL=" + proxy.URL, "MAILHOST_ACCOUNT_ID=" + owner.AccountID, "MAILHOST_TOKEN=" + owner.Token}
	hcl := filepath.Join(t.TempDir(), "hcl")
	commands := [][]string{
		{"whoami"}, {"account", "show"}, {"token", "list"}, {"token", "create", "x"}, {"grant", "list"}, {"grant", "add", "--user", "u", "--plan-only"}, {"audit"},
		{"export", "--hcl", hcl, "--overwrite"}, {"export", "--zone", "example.com"}, {"import", "--dry-run", "--domain", "example.com", users},
		{"import", "--domain", "example.com", users}, {"call", "get-mailbox", "mailbox=jane@example.com"}, {"call", "create-workspace", "name=x"},
	}
	for _, s := range api.Specs() {
		if !s.Changes() && len(s.PathParameters()) == 1 {
			args := []string{"call", s.ID}
			if s.ID == api.ExportMailboxes.ID || s.ID == api.CheckDomainAvailability.ID {
				args = append(args, map[bool]string{true: "domain=example.com", false: "name=example.net"}[s.ID == api.ExportMailboxes.ID])
			}
			commands = append(commands, args)
		}
	}
	run := func() {
		for _, command := range commands {
			for _, form := range []string{"", "--no-json"} {
				if form != "" && (command[0] == "call" || slices.Contains(command, "--zone")) {
					continue
				}
				args := slices.Concat(command, strings.Fields(form))
				code, stdout, stderr := mailhostdtest.RunWith(t, environ, args...)
				assert.Check(t, code != cli.ExitUsage, "%q: %s", args, stderr)
				checkPrintable(t, args, h.members, stdout+stderr)
				isText := form != "" || command[0] == "audit" || slices.Contains(command, "--zone") || slices.Contains(command, api.ExportMailboxes.ID)
				if code == cli.ExitOK && !isText && h.members != "all" {
					assert.Check(t, json.Valid([]byte(stdout)), "%q with a hostile %s prints %s", args, h.members, stdout)
				}
			}
		}
	}
	run() // collects the names
	assert.Assert(t, len(h.names) > 20, "members: %v", h.names)
	// All output has one writer, so that some members are enough.
	for _, h.members = range []string{"name domain email msg capability_key object_name", "all"} {
		run()
	}
	h.refuse = true
	run()
	files, err := os.ReadDir(hcl)
	assert.Check(t, err == nil && len(files) > 0, "%v", err)
}

func checkPrintable(t *testing.T, args []string, members, output string) {
	t.Helper()
	i := strings.IndexFunc(output, func(r rune) bool { return text.IsUnsafe(r) && r != '\n' && r != '\t' && r != '\r' })
	if i >= 0 || strings.Contains(strings.ReplaceAll(output, "\r\n", ""), "\r") || !utf8.ValidString(output) {
		t.Errorf("%q with a hostile %s prints %q", args, members, output)
	}
}
