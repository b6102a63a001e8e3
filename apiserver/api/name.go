package api

import "github.com/danielgtaylor/huma/v2"

// formatName is the format tag of a name: text in one line that people see. Its rule
// is text.CheckName's.
const formatName = "name"

const (
	// bidiControls are the characters with the property Bidi_Control.
	bidiControls = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
	// invisible are characters that take no room: formatting, combining marks, and the
	// others with the property Default_Ignorable_Code_Point.
	invisible = `\p{Cf}\p{Mn}\p{Me}` + "\u115f\u1160\u2065\u3164\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)

// NamePattern is the rule of a name as a pattern of JSON Schema: no control character,
// and something visible.
const NamePattern = `^[^\p{Cc}` + bidiControls + `]*[^\p{Cc}` + bidiControls + invisible + `][^\p{Cc}` + bidiControls + `]*$`

// setNamePatterns gives every name in the schemas so far its pattern. It is a
// huma.AddOpFunc: a tag in each place could not hold a pattern of this length.
func setNamePatterns(doc *huma.OpenAPI, _ *huma.Operation) {
	for _, schema := range doc.Components.Schemas.Map() {
		for _, p := range schema.Properties {
			if p.Format == formatName {
				p.Format, p.Pattern = "", NamePattern
				p.PrecomputeMessages()
			}
		}
	}
}
