//go:build race

package modeltest

// The race detector slows the store down by a factor of ten.
func init() { defaults["rapid.checks"], raceDetector = "8", true }
