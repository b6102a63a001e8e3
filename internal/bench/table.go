package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// unit is what a measurement counts.
type unit string

const (
	seconds   unit = "s"
	mebibytes unit = "MiB"
	perSecond unit = "/s"
	requests  unit = "requests"
)

// format returns a value for the table, with three digits where that makes sense.
func (u unit) format(v float64) string {
	switch {
	case u == seconds && v < 1:
		return fmt.Sprintf("%.3g ms", v*1000)
	case u == seconds:
		return fmt.Sprintf("%.2f s", v)
	case u == perSecond:
		return fmt.Sprintf("%.0f/s", v)
	}
	return fmt.Sprintf("%.0f %s", v, u)
}

// target is what a ratio is meant to be: at most a value, or at least.
type target struct {
	bound   float64
	atLeast bool
}

func atMost(v float64) target  { return target{bound: v} }
func atLeast(v float64) target { return target{bound: v, atLeast: true} }

func (t target) String() string {
	if t.atLeast {
		return fmt.Sprintf("≥ %g", t.bound)
	}
	return fmt.Sprintf("≤ %g", t.bound)
}

// row is one line of the table: a measure of two sides.
type row struct {
	measure string
	unit    unit
	target  target
	// ours and against have one value for each round.
	ours, against []float64
	// versus names the other side.
	versus string
	// missing says why there is no measurement.
	missing string
}

// limit returns the other side of a measure with an absolute target, so that its ratio
// is the share of the target that is used.
func limit(v float64, ours []float64) []float64 { return slices.Repeat([]float64{v}, len(ours)) }

// ratio returns the median over the rounds of ours by against, and the extremes.
func (r row) ratio() (median, low, high float64) {
	ratios := make([]float64, min(len(r.ours), len(r.against)))
	for i := range ratios {
		ratios[i] = r.ours[i] / r.against[i]
	}
	if len(ratios) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return medianOf(ratios), slices.Min(ratios), slices.Max(ratios)
}

// medianOf returns the median, the mean of the two middle values if there are two.
func medianOf(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// cells returns the row as text: measure, ratio, spread, target, both sides.
func (r row) cells() []string {
	if r.missing != "" {
		return []string{r.measure, "–", "", "", "not measured: " + r.missing, ""}
	}
	ratio, low, high := r.ratio()
	spread := ""
	if len(r.ours) > 1 {
		spread = fmt.Sprintf("%.2f–%.2f", low, high)
	}
	against := r.unit.format(medianOf(r.against))
	if r.versus != "" {
		against += ", " + r.versus
	}
	return []string{r.measure, fmt.Sprintf("%.2f", ratio), spread, r.target.String(), r.unit.format(medianOf(r.ours)), against}
}

// table returns the rows as Markdown whose columns are aligned, so that it can be read
// in a terminal too.
func table(rows []row) string {
	lines := [][]string{{"measure", "ratio", "range", "target", "ours", "against"}}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	widths := make([]int, len(lines[0]))
	for i, line := range lines {
		for j, cell := range line {
			if i == 0 || rows[i-1].missing == "" { // the reason of a missing row may be long
				widths[j] = max(widths[j], utf8.RuneCountInString(cell))
			}
		}
	}
	var b strings.Builder
	for i, line := range lines {
		for j, cell := range line {
			fmt.Fprintf(&b, "| %-*s ", widths[j], cell)
		}
		b.WriteString("|\n")
		if i == 0 {
			for _, w := range widths {
				b.WriteString("|" + strings.Repeat("-", w+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
