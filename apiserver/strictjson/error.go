package strictjson

import (
	"fmt"
	"strings"
)

// maxProblems limits the problems in an Error, because a mistake in a generated file is
// in all of its lines.
const maxProblems = 20

// Problem is a problem with one value.
type Problem struct {
	// Line counts from 1; 0 if it is not known.
	Line int
	// Path is the path of the value, such as accounts[0].status; "" is the whole.
	Path    string
	Message string
}

// String returns the path, if any, and the message.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Error lists the problems of JSON that does not match its type.
type Error struct {
	Problems []Problem
	// More is the number of further problems.
	More int
}

// Add adds a problem, or counts it if there are very many already.
func (e *Error) Add(p Problem) {
	if len(e.Problems) == maxProblems {
		e.More++
		return
	}
	e.Problems = append(e.Problems, p)
}

// Error returns one line per problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if lines[i] = p.String(); p.Line > 0 {
			lines[i] = fmt.Sprintf("line %d: %s", p.Line, p)
		}
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more problems", e.More))
	}
	return strings.Join(lines, "\n")
}
