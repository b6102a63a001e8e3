package dnszone

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// originKey is the key of [origin] in the private state.
const originKey = "origin"

// origin is what the private state knows of the records in the state that no apply of the
// zone has written. An update clears it.
type origin struct {
	// Foreign are the records that others have added, as lines of a zone file.
	Foreign []string `json:"foreign,omitempty"`
	// Ignored are the records that ignore matches, so that a plan which changes ignore names the
	// same records as its apply.
	Ignored []string `json:"ignored,omitempty"`
	// IsImported means that no apply has written any of them, but they are the zone's.
	IsImported bool `json:"imported,omitempty"`
}

func originOf(ctx context.Context, private service.PrivateState, diags *diag.Diagnostics) (o origin) {
	value, problems := private.GetKey(ctx, originKey)
	diags.Append(problems...)
	if value == nil || json.Unmarshal(value, &o) != nil {
		return origin{}
	}
	return o
}

func (o origin) store(ctx context.Context, private service.PrivateState) diag.Diagnostics {
	return service.SetPrivate(ctx, private, originKey, o)
}

// isForeign returns a function that reports whether others have added a record.
func (o origin) isForeign() func(record) bool {
	all := make(map[string]bool, len(o.Foreign))
	for _, s := range o.Foreign {
		all[s] = true
	}
	return func(r record) bool { return all[r.String()] }
}

// ignored returns the records that ignore matched at the last refresh.
func (o origin) ignored(domain string) map[record]int64 {
	all := map[record]int64{}
	for _, line := range o.Ignored {
		fields := strings.SplitN(line, " ", 3)
		key, err := parseKey(strings.Join(fields[:2], " "), domain)
		if err != nil {
			continue
		}
		if r, err := parseValue(key, fields[2]); err == nil {
			all[r] = 0
		}
	}
	return all
}
