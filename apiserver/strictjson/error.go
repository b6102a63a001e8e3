package strictjson

import (
	"fmt"
	"strings"
)

// maxProblems is how many problems an error tells: a mistake in a generated file
// is in all of its lines.
const maxProblems = 20

// Problem is something that is wrong.
type Problem struct {
	// Line counts from 1.
	Line int
	// Path is where it stands, such as accounts[0].status; empty for the whole.
	Path    string
	Message string
}

// String returns the path, if any, with the message.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Error says what is wrong with JSON that is none for its type: the first
// problems of it.
type Error struct {
	Problems []Problem
	// More is how many there are beside those.
	More int
}

// Error tells each problem in a line of its own.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("line %d: %s", p.Line, p)
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more problems", e.More))
	}
	return strings.Join(lines, "\n")
}
