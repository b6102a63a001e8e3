package main

import (
	"bytes"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestRun makes all mutants of a package with a place for each kind.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a package")
	}
	t.Parallel()
	var out bytes.Buffer
	assert.NilError(t, run(t.Context(), &out, []string{"./testdata/sample"}, nil, 1, 1000, time.Second))
	const want = `github.com/mailhost/terraform-provider-mailhost/internal/mutate/testdata/sample: 22 mutants
testdata/sample/sample.go:30:3: survived, call dropped: b.WriteString("unnoticed")
testdata/sample/sample.go:32:2: survived, zero values returned: return b
testdata/sample/sample.go:36:5: not reached, always true: errors <= 0
testdata/sample/sample.go:36:5: not reached, always false: errors <= 0
testdata/sample/sample.go:36:5: not reached, boundary of <=: errors <= 0
seed 1: 17 of 22 mutants killed (77 %), 3 not reached, 2 survived
`
	assert.Check(t, out.String() == want, "the report is\n%s", &out)
}
