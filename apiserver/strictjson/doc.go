// Package strictjson decodes JSON that a person wrote: a fixture, or what the
// control plane is told.
//
// Unlike encoding/json it compares the names of fields exactly, refuses those
// that there are not, naming those that there are, refuses null and a name that
// is given twice, and tells all that is wrong and where. The package imports the
// standard library alone.
package strictjson
