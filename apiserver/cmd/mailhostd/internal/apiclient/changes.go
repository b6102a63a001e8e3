package apiclient

import (
	"maps"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Pairs returns the names with their values, sorted by name.
func Pairs(details map[string]string) (pairs []string) {
	for _, name := range slices.Sorted(maps.Keys(details)) {
		pairs = append(pairs, name+" "+details[name])
	}
	return pairs
}

// ChangeGroup describes changes with the same action and kind: the first objects, and the number of further ones.
type ChangeGroup struct {
	Action, Type string
	Objects      []api.AuditChange
	More         int
}

const changesShown = 3

// GroupChanges groups consecutive similar changes of an entry of the audit log.
func GroupChanges(changes []api.AuditChange) (groups []ChangeGroup) {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Action == changes[0].Action && changes[n].Type == changes[0].Type {
			n++
		}
		shown := min(n, changesShown)
		groups = append(groups, ChangeGroup{changes[0].Action, changes[0].Type, changes[:shown], n - shown})
		changes = changes[n:]
	}
	return groups
}
