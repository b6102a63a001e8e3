package main

import (
	"math"
	"strings"
	"testing"
)

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		ours, against    []float64
		median, low, max float64
	}{
		{[]float64{3}, []float64{2}, 1.5, 1.5, 1.5},
		{[]float64{2, 30, 4}, []float64{1, 10, 8}, 2, 0.5, 3}, // the second round ran on a busy machine
		{[]float64{1, 2}, []float64{1, 1}, 1.5, 1, 2},
		{[]float64{9, 9}, limit(12, []float64{9, 9}), 0.75, 0.75, 0.75},
	} {
		median, low, high := row{ours: c.ours, against: c.against}.ratio()
		if median != c.median || low != c.low || high != c.max {
			t.Errorf("%v by %v is %v (%v–%v), want %v (%v–%v)", c.ours, c.against, median, low, high, c.median, c.low, c.max)
		}
	}
	if median, _, _ := (row{}).ratio(); !math.IsNaN(median) {
		t.Errorf("without a round the ratio is %v", median)
	}
}

func TestTable(t *testing.T) {
	got := table([]row{
		{measure: "first plan", unit: seconds, target: atMost(1.25), ours: []float64{2.5, 2.5}, against: []float64{2, 2.5}, versus: "null"},
		{measure: "creates", unit: perSecond, target: atLeast(2), ours: []float64{4321.4}, against: []float64{2000}},
		{measure: "search", unit: seconds, target: atMost(1), ours: []float64{0.0123}, against: []float64{0.02}, versus: "the limit"},
		{measure: "lists", missing: "PocketBase can't be built: no network, and a long explanation of it"},
	})
	want := []string{
		"| measure    | ratio | range     | target | ours    | against          |",
		"|------------|-------|-----------|--------|---------|------------------|",
		"| first plan | 1.12  | 1.00–1.25 | ≤ 1.25 | 2.50 s  | 2.25 s, null     |",
		"| creates    | 2.16  |           | ≥ 2    | 4321/s  | 2000/s           |",
		"| search     | 0.61  |           | ≤ 1    | 12.3 ms | 20 ms, the limit |",
		"| lists      | –     |           |        | not measured: PocketBase can't be built: no network, and a long explanation of it |                  |",
	}
	if got != strings.Join(want, "\n")+"\n" {
		t.Errorf("the table is\n%s", got)
	}
}
