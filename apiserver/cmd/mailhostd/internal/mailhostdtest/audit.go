package mailhostdtest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// AuditEntry is an output line of mailhostd audit --format json. Scripts depend on its member
// names.
type AuditEntry struct {
	ID            int64  `json:"id"`
	At            string `json:"at"`
	AccountID     string `json:"account_id"`
	Operation     string `json:"operation"`
	RequestID     string `json:"request_id"`
	RemoteAddress string `json:"remote_address"`
	Subject       struct {
		Type, ID, Name string
	} `json:"subject"`
	Changes []struct {
		Action, Type, ID, Name string
		Fields                 []string
	} `json:"changes"`
}

// Audit returns the output of mailhostd audit for a database.
func Audit(t *testing.T, database string, args ...string) (entries []AuditEntry) {
	t.Helper()
	code, stdout, stderr := Run(t, append([]string{"audit", "--format", "json", "--database", database}, args...)...)
	if code != cli.ExitOK || stderr != "" {
		t.Fatalf("audit %q: exit code %d, stderr %s", args, code, stderr)
	}
	for line := range strings.Lines(stdout) {
		var e AuditEntry
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		entries = append(entries, e)
	}
	return entries
}
