package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one line of the table: a measure of two sides.
type row struct {
	measure string
	// perSecond is true for a rate: its ratio must be at least the target. The ratio of a time must be
	// at most the target.
	perSecond bool
	target    float64
	// ours and against contain one value for each round.
	ours, against []float64
	versus        string // the other side
	missing       string // why there is no measurement
}

func (r row) format(v float64) string {
	switch {
	case r.perSecond:
		return fmt.Sprintf("%.0f/s", v)
	case v < 1:
		return fmt.Sprintf("%.3g ms", v*1000)
	}
	return fmt.Sprintf("%.2f s", v)
}

// median returns the middle value, or the mean of the two middle values.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	return (sorted[middle] + sorted[(len(sorted)-1)/2]) / 2
}

// cells returns the row as text.
func (r row) cells() []string {
	if r.missing != "" {
		return []string{r.measure, "–", "", "", "", "not measured: " + r.missing}
	}
	ratios := make([]float64, len(r.ours))
	for i := range ratios {
		ratios[i] = r.ours[i] / r.against[i]
	}
	spread, bound := "", "≤"
	if len(ratios) > 1 {
		spread = fmt.Sprintf("%.2f–%.2f", slices.Min(ratios), slices.Max(ratios))
	}
	if r.perSecond {
		bound = "≥"
	}
	return []string{
		r.measure, fmt.Sprintf("%.2f", median(ratios)), spread, fmt.Sprintf("%s %g", bound, r.target),
		r.format(median(r.ours)), r.format(median(r.against)) + ", " + r.versus,
	}
}

// table returns the rows as Markdown with aligned columns, for a terminal.
func table(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| measure\t| ratio\t| range\t| target\t| ours\t| against\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, r := range rows {
		fmt.Fprintln(w, "| "+strings.Join(r.cells(), "\t| ")+" |")
	}
	_ = w.Flush() // into memory
	return b.String()
}
