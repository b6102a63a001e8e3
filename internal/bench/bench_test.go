package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestAccBench runs every part with a few objects and without the network, so that the
// rows of the others are missing. It does not look at the figures.
func TestAccBench(t *testing.T) {
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set")
	}
	cli, err := findCLI(os.Getenv("TF_ACC_TERRAFORM_PATH"))
	if err != nil {
		t.Skip(err)
	}
	b, err := newBench(t.Context(), options{
		rounds: 1, set: 10, count: 10, single: 10, distant: 10, limited: 10, million: 1200, load: 40 * time.Millisecond, offline: true,
	}, "../..", cli)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if err := b.measure(t.Context(), parts); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.rows {
		switch {
		case r.missing != "" && !strings.HasSuffix(r.missing, "-offline is set"):
			t.Errorf("%s: %s", r.measure, r.missing)
		case r.missing == "" && (len(r.ours) == 0 || len(r.ours) != len(r.against) || medianOf(r.ours) <= 0 || medianOf(r.against) <= 0):
			t.Errorf("%s has the samples %v and %v", r.measure, r.ours, r.against)
		}
	}
	if len(b.rows) < len(parts) {
		t.Errorf("%d parts have %d rows", len(parts), len(b.rows))
	}
}

func TestChoose(t *testing.T) {
	chosen, err := choose("server,null")
	if err != nil || len(chosen) != 2 || chosen[0].name != "server" || chosen[1].name != "null" {
		t.Errorf("the parts are %v (%v)", chosen, err)
	}
	if _, err := choose("sever"); err == nil || !strings.Contains(err.Error(), "server") {
		t.Errorf("an unknown part is %v", err)
	}
	if all, err := choose(""); err != nil || len(all) != len(parts) {
		t.Errorf("without names there are %d parts (%v)", len(all), err)
	}
}

// TestAlternate checks the order of the measurements.
func TestAlternate(t *testing.T) {
	var order strings.Builder
	side := func(name string, values ...float64) func() ([]float64, error) {
		return func() ([]float64, error) {
			order.WriteString(name)
			return values, nil
		}
	}
	a, b, err := alternate(2, side("A", 1, 2), side("B", 3, 4))
	if err != nil || order.String() != "ABAB" {
		t.Errorf("the order is %s (%v), want ABAB", &order, err)
	}
	if len(a) != 2 || len(a[1]) != 2 || a[1][1] != 2 || len(b) != 2 || b[0][0] != 3 {
		t.Errorf("the samples are %v and %v", a, b)
	}
	failing := func() ([]float64, error) { return nil, exec.ErrNotFound }
	if _, _, err := alternate(1, side("A", 1), failing); err == nil {
		t.Error("a failed side is no error")
	}
}
