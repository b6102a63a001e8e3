package apiclient_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
)

// hostile draws texts that imitate a subject, and texts of any characters.
func hostile(what string) *rapid.Generator[string] {
	parts := []string{
		"service_account", "user", "operator", "system", "jane", "4f2c1d00-2222-4333-8444-555555555555", " ", "  ", `"`, `\`, "\n", "\r", "\t", "\x1b[2K",
		"\u202e", "\u2066", "\u200b", "\u00a0", "\u3164", "аdmin", "Jane Doe", "(", ")", ";", "é",
	}
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, what+" of any characters") {
			return rapid.String().Draw(t, what)
		}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(t, what), "")
	})
}

// TestDescribeSubject draws hostile ids and names: the text always begins with the true kind and id, the name can be
// read back, and nothing can change a line or a terminal.
func TestDescribeSubject(t *testing.T) {
	t.Parallel()
	for want, s := range map[string][3]string{
		`operator "jane"`: {"operator", "", "jane"}, `system`: {"system", "", ""}, `group "Mail Admins"`: {"group", "Mail Admins", ""},
		`user jane "service_account deploy (4f2c)"`: {"user", "jane", "service_account deploy (4f2c)"},
		`user "jane \"admin\"" "x"`:                 {"user", `jane "admin"`, "x"},
		`user auth0|jane "Jane Doé"`:                {"user", "auth0|jane", "Jane Doé"},
		`recipient joe@example.net`:                 {"recipient", "joe@example.net", ""},
	} {
		got := apiclient.DescribeSubject(s[0], s[1], s[2])
		assert.Check(t, got == want, "%q: %s; want %s", s, got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"service_account", "user", "group", "operator", "recipient", "system", "control_plane"}).Draw(t, "kind")
		id, name := hostile("id").Draw(t, "id"), hostile("name").Draw(t, "name")
		text := apiclient.DescribeAuthor(api.AuditSubject{Type: kind, ID: &id, Name: &name})
		assert.Assert(t, !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%q contains a control character", text)
		rest, ok := strings.CutPrefix(text, kind)
		assert.Assert(t, ok, "%q does not begin with the kind %s", text, kind)
		read := func(want string) {
			if want == "" {
				return
			}
			rest, ok = strings.CutPrefix(rest, " ")
			assert.Assert(t, ok, "%q lacks %q", text, want)
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				quoted, _, _ = strings.Cut(rest, " ")
				assert.Assert(t, quoted == want, "%q says %s in place of %q", text, quoted, want)
			} else {
				unquoted, err := strconv.Unquote(quoted)
				assert.Assert(t, err == nil && unquoted == want, "%q says %q in place of %q", text, unquoted, want)
			}
			rest = rest[len(quoted):]
		}
		read(id)
		read(name)
		assert.Assert(t, rest == "", "%q ends with %q", text, rest)
	})
}
