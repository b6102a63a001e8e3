package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// Capabilities returns every capability that some operation asks for, in the
// order of the operations.
func Capabilities() []vocab.Capability {
	var caps []vocab.Capability
	seen := map[vocab.Capability]bool{"": true}
	for _, s := range Specs() {
		if !seen[s.Capability] {
			seen[s.Capability] = true
			caps = append(caps, s.Capability)
		}
	}
	return caps
}
