package modeltest

import (
	"flag"
	"os"
	"testing"
)

// raceDetector reduces the number of sequences, see slow_test.go.
var raceDetector bool

// defaults make a run without flags reproducible, and as long with -short as without. A
// failure is repeated with its seed, without a file.
var defaults = map[string]string{"rapid.checks": "50", "rapid.steps": "60", "rapid.seed": "2", "rapid.nofailfile": "true"}

// isDefaultRun reports whether the number and length of sequences are the defaults.
var isDefaultRun bool

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		defaults["rapid.checks"] = "250" // rapid runs a fifth of them then
	}
	all := len(defaults)
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	isDefaultRun = len(defaults) == all && !raceDetector
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
