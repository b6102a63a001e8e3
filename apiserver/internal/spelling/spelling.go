// Package spelling describes the allowed words in place of an unknown one.
package spelling

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Allowed lists the allowed words and suggests the one that the unknown word may be a misspelling
// of, as in "there are name, count; did you mean name?".
func Allowed(unknown string, allowed []string) string {
	list := "there are " + strings.Join(allowed, ", ")
	if len(allowed) == 0 {
		list = "there are none"
	}
	return list + Suggestion(unknown, allowed)
}

// Suggestion is Allowed without the list: "; did you mean name?", or "" if no word is similar.
func Suggestion(unknown string, allowed []string) string {
	unknown = strings.ToLower(unknown)
	similar, fewest := "", 1+max(1, len(unknown)/2)
	for _, word := range allowed {
		lower := strings.ToLower(word)
		n := levenshtein.Distance(unknown, lower, nil)
		if unknown != "" && (strings.HasPrefix(lower, unknown) || strings.HasPrefix(unknown, lower)) {
			n = min(n, 1) // op, account_id
		}
		if n < fewest {
			similar, fewest = word, n
		}
	}
	if similar == "" {
		return ""
	}
	return "; did you mean " + similar + "?"
}
