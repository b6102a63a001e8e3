package apitest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// varying matches the ids, times and keys in a dump.
var varying = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+Z|"id": \d+|p=[A-Za-z0-9+/=" ]{50,}`)

// Content returns the content of a service's accounts as text, without what differs between two
// services with the same content: ids, times and DKIM keys.
func Content(t TB, s *apiserver.Service) string {
	t.Helper()
	f, err := s.DumpFixture(t.Context())
	assert.NilError(t, err)
	text, err := json.MarshalIndent(f, "", " ")
	assert.NilError(t, err)
	return varying.ReplaceAllString(string(text), "…")
}

// ChangedLines returns the lines that only one of two texts has, each with a sign before it.
func ChangedLines(before, after string) string {
	had, has := strings.Split(before, "\n"), strings.Split(after, "\n")
	var lines []string
	mark := func(sign string, in, other []string) {
		other = slices.Clone(other)
		for _, line := range in {
			if i := slices.Index(other, line); i >= 0 {
				other = slices.Delete(other, i, i+1)
				continue
			}
			lines = append(lines, sign+line)
		}
	}
	mark("-", had, has)
	mark("+", has, had)
	return strings.Join(lines, "\n")
}

// Changes returns the newest 100 entries of the account's audit log.
func (c *Client) Changes() (entries []api.AuditEntry) {
	c.T.Helper()
	r, err := c.Try(c.T.Context(), http.MethodGet, "/audit-log?limit=100", nil)
	assert.NilError(c.T, err)
	r.Want(http.StatusOK).Into(&entries)
	return entries
}
