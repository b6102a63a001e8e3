package maildns

import "strings"

// tagList is a record of tag=value pairs, in the order in which they are added.
type tagList []string

// add adds a tag; one without a value is left out.
func (l *tagList) add(name, value string) {
	if value != "" {
		*l = append(*l, name+"="+value)
	}
}

// String returns the list as it stands in a record (RFC 6376, section 3.2; RFC
// 7489, section 6.4).
func (l *tagList) String() string { return strings.Join(*l, "; ") }
