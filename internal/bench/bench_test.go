package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAccBench runs every part with a few objects and without the network, so the rows of PocketBase are
// missing. It does not check the figures.
func TestAccBench(t *testing.T) {
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set")
	}
	b, err := newBench(t.Context(), options{rounds: 1, set: 10, single: 10, large: 10, many: 1200, load: 40 * time.Millisecond, offline: true},
		"../..", os.Getenv("TF_ACC_TERRAFORM_PATH"))
	assert.NilError(t, err)
	defer os.RemoveAll(b.scratch)
	for _, p := range parts {
		b.measure(t.Context(), p)
	}
	for _, r := range b.rows {
		switch {
		case r.missing != "" && !strings.HasSuffix(r.missing, "-offline is set") && !strings.Contains(r.missing, "initdb"):
			t.Errorf("%s: %s", r.measure, r.missing)
		case r.missing == "" && (len(r.ours) != 1 || len(r.against) != 1 || r.ours[0] <= 0 || r.against[0] <= 0):
			t.Errorf("%s has the samples %v and %v", r.measure, r.ours, r.against)
		}
	}
	assert.Check(t, len(b.rows) >= len(parts), "%d parts have %d rows", len(parts), len(b.rows))
}

func TestTable(t *testing.T) {
	got := table([]row{
		{measure: "first plan", target: 1.25, ours: []float64{2, 30, 4}, against: []float64{1, 10, 8}, versus: "terraform_data"}, // the second round ran on a busy machine
		{measure: "creates", perSecond: true, target: 2, ours: []float64{4321.4}, against: []float64{2000}, versus: "PocketBase"},
		{measure: "search", target: 1, ours: []float64{0.01, 0.02}, against: []float64{0.02, 0.02}, versus: "the target"},
		{measure: "lists", missing: "PocketBase can't be built: no network"},
	})
	want := []string{
		"| measure    | ratio | range     | target | ours   | against |",
		"|---         |---    |---        |---     |---     |---      |",
		"| first plan | 2.00  | 0.50–3.00 | ≤ 1.25 | 4.00 s | 8.00 s, terraform_data |",
		"| creates    | 2.16  |           | ≥ 2    | 4321/s | 2000/s, PocketBase |",
		"| search     | 0.75  | 0.50–1.00 | ≤ 1    | 15 ms  | 20 ms, the target |",
		"| lists      | –     |           |        |        | not measured: PocketBase can't be built: no network |",
	}
	assert.Check(t, got == strings.Join(want, "\n")+"\n", "the table is\n%s", got)
}
