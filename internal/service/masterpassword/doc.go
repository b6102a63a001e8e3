// Package masterpassword has the resource mailhost_master_password, its data sources
// and its list resource. The API's paths call master passwords credentials.
//
// # The secret
//
// The API accepts a secret in a create, returns a generated one once, and can neither
// read nor change it. A change of the secret is therefore a replacement. A plan compares
// the configuration with the state:
//
//	state records    configuration: the same   another                     none
//	value            no change                 replaces                    removed from state, with a warning
//	value_wo_version no change                 replaces                    removed from state, with a warning
//	generate         no change                 replaces                    removed from state, with a warning
//	none, importing  -                         recorded, nothing is sent   no change
//	none, imported   -                         error with the ways out     no change
//	none, other      -                         replaces, with a warning    no change
//
// A secret that moves to another attribute is the same if the state has its text:
// value or generated_secret to value_wo, or generated_secret to value. value_wo is
// compared by its version alone.
//
// A state that records no secret has an importStage: the plan of an import may record
// the configured secret as the one in use, a later plan may not.
package masterpassword
