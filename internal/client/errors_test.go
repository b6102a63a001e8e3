package client

import (
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

func TestErrorHelpers(t *testing.T) {
	e := &Error{Status: 422, Problems: []Problem{{Loc: []string{"body", "a", "0"}, Msg: "x"}, {Loc: []string{"body", "b"}, Msg: "y"}, {Msg: "z"}}}
	wrapped := fmt.Errorf("more: %w", e)
	got := ProblemsAt(wrapped, "body", "a")
	assert.Check(t, len(got) == 1 && got[0].Msg == "x", "%v", got)
	got = ProblemsAt(wrapped)
	assert.Check(t, len(got) == 3, "%v", got)
	for _, tc := range []struct {
		err                             error
		notFound, conflict, unsupported bool
	}{
		{&Error{Status: 404}, true, false, false},
		{&Error{Status: 409}, false, true, false},
		{&Error{Status: 405}, false, false, true},
		{&Error{Status: 501}, false, false, true},
		{&Error{Status: 500}, false, false, false},
		{&UnsupportedError{Kind: ErrDeleteUnsupported}, false, false, true},
		{notFound("x"), true, false, false},
		{errors.New("x"), false, false, false},
		{nil, false, false, false},
	} {
		assert.Check(t, IsNotFound(tc.err) == tc.notFound && IsConflict(tc.err) == tc.conflict && IsUnsupported(tc.err) == tc.unsupported, "%v", tc.err)
	}
}
