package api

// FormatName is the format tag of a name: text in one line that people see. Its rule
// is text.CheckName's.
const FormatName = "name"

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

// TextPattern is the rule of text in several lines. PostgreSQL keeps no NUL, and no text
// has one. A field's tag can't name the constant, and repeats it.
const TextPattern = `^[^\x00]*$`
