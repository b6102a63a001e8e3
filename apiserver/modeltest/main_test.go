package modeltest

import (
	"flag"
	"os"
	"testing"
)

// defaults make a run without flags short, and the same each time; a failure is
// had again by its seed, without a file.
var defaults = map[string]string{"rapid.checks": "50", "rapid.steps": "60", "rapid.seed": "1", "rapid.nofailfile": "true"}

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
