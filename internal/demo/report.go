package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// change is how often a plan does one thing to one type of resource.
type change struct {
	resourceType string
	action       string
	count        int
}

// summarize counts the changes in a plan's JSON form, by type and action.
func summarize(plan []byte) ([]change, error) {
	var doc struct {
		Changes []struct {
			Mode   string `json:"mode"`
			Type   string `json:"type"`
			Change struct {
				Actions []string `json:"actions"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(plan, &doc); err != nil {
		return nil, fmt.Errorf("the plan's JSON form can't be read: %w", err)
	}
	counts := map[change]int{}
	for _, c := range doc.Changes {
		action := strings.Join(c.Change.Actions, "+")
		if strings.Contains(action, "+") {
			action = "replace" // create and delete, in either order
		}
		if c.Mode == "managed" && action != "no-op" {
			counts[change{resourceType: c.Type, action: action}]++
		}
	}
	var out []change
	for c, n := range counts {
		c.count = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b change) int {
		return strings.Compare(a.resourceType+" "+a.action, b.resourceType+" "+b.action)
	})
	return out, nil
}

// countTypes counts the managed resources in the output of state list, by type.
func countTypes(list string) []string {
	counts := map[string]int{}
	for address := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(address), "[") // keys may hold dots
		if resourceType, _, ok := strings.Cut(name, "."); ok && resourceType != "data" {
			counts[resourceType]++
		}
	}
	var out []string
	for _, t := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%3d  %s", counts[t], t))
	}
	return out
}

// isNotice reports whether a line of the CLI's output belongs to the frame
// around a warning or an error.
func isNotice(line string) bool {
	return strings.HasPrefix(line, "╷") || strings.HasPrefix(line, "│") || strings.HasPrefix(line, "╵")
}

// isProgress reports whether a line of the CLI's output only says what it reads.
func isProgress(line string) bool {
	return strings.Contains(line, ": Refreshing state...") || strings.Contains(line, ": Reading...") || strings.Contains(line, ": Read complete after ")
}

// isOutcome reports whether a line of an apply or a destroy says what was done. It
// excludes progress.
func isOutcome(line string) bool {
	return isNotice(line) || strings.Contains(line, "complete! Resources:") ||
		strings.Contains(line, " complete after ") && !isProgress(line)
}

// lineWriter passes each line that is written to it to emit, without colours. The CLI's
// flag -no-color is not used, because it removes the frames of warnings and errors too.
type lineWriter struct {
	emit func(line string)
	rest []byte
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		w.rest = rest
		w.emit(string(colours.ReplaceAll(line, nil)))
	}
}

// flush passes on a last line without a line break.
func (w *lineWriter) flush() {
	if len(w.rest) > 0 {
		_, _ = w.Write([]byte("\n"))
	}
}

// indent moves the lines of a text under their heading.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		if line != "\n" {
			b.WriteString("   ")
		}
		b.WriteString(line)
	}
	return b.String()
}
