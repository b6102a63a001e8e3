//go:build race

package modeltest

// The race detector makes the store ten times as slow.
func init() { defaults["rapid.checks"], raceDetector = "8", true }
