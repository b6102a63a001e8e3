package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

func TestAddLosses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		max          types.Int64
		standard     int
		lost         int
		wantsRefusal string
	}{
		"nothing is allowed":      {types.Int64Null(), 0, 1, "The plan would release 1 things of x, and max_deletions is 0"},
		"nothing is lost":         {types.Int64Null(), 0, 0, ""},
		"as many as allowed":      {types.Int64Value(2), 0, 2, ""},
		"more than allowed":       {types.Int64Value(2), 9, 3, "The plan would release 3 things of x, and max_deletions is 2"},
		"the default":             {types.Int64Null(), 9, 9, ""},
		"more than the default":   {types.Int64Null(), 9, 10, "The plan would release 10 things of x, and without max_deletions at most 9"},
		"unknown":                 {types.Int64Unknown(), 0, 1, "The plan would release 1 things of x, and max_deletions is known only after the apply"},
		"unknown, but few enough": {types.Int64Unknown(), 9, 1, ""},
	} {
		var items []string
		for i := range test.lost {
			items = append(items, fmt.Sprintf("thing-%d", i))
		}
		var diags diag.Diagnostics
		service.AddLosses(&diags, service.Loss{
			Of: []service.Asset{service.Mail, service.Purchase}, Again: true, At: path.Root("things"),
			Does: fmt.Sprintf("releases %d things of x", test.lost), Because: "Something has changed.", Lists: "They are:", Items: items, Consequence: "They are gone.", Keep: "Undo the change.",
			Guard: &service.Guard{Counted: items, Max: test.max, Default: test.standard, Next: "Allow it."},
		})
		assert.Assert(t, len(diags) == 1, name)
		d := diags[0]
		if test.wantsRefusal == "" {
			assert.Check(t, d.Severity() == diag.SeverityWarning && d.Summary() == fmt.Sprintf("The plan releases %d things of x", test.lost), "%s: %s", name, d.Summary())
			assert.Check(t, strings.HasSuffix(d.Detail(), "\n\nThey are gone.\n\nUndo the change.\n\nConcerns: mail, purchase, a second time"), "%s: %s", name, d.Detail())
		} else {
			assert.Check(t, d.Severity() == diag.SeverityError && d.Summary() == test.wantsRefusal, "%s: %s", name, d.Summary())
			assert.Check(t, strings.HasSuffix(d.Detail(), "Nothing was changed. Allow it.") != test.max.IsUnknown(), "%s: %s", name, d.Detail())
		}
		for _, item := range items {
			assert.Check(t, strings.Contains(d.Detail(), "\n  - "+item), "%s: %s", name, d.Detail())
		}
	}
}
