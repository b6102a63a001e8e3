package userimport

import (
	"cmp"
	"errors"
	"fmt"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/textfile"
)

// decode returns the text of the file and the name of its encoding: the detected one, else the
// configured one.
func (c Command) decode(data []byte) (text, name string, err error) {
	var fallback encoding.Encoding
	if c.Encoding != "" {
		if fallback, err = htmlindex.Get(c.Encoding); err != nil {
			return "", "", cli.UsageError("--encoding: %.40q is unknown; use a name such as windows-1252, iso-8859-2 or macintosh, or save the file as UTF-8", c.Encoding)
		}
		name, _ = htmlindex.Name(fallback) // the encoding is in the index
	}
	text, detected, err := textfile.Decode(data, fallback)
	broken, isEncoding := errors.AsType[*textfile.EncodingError](err)
	switch {
	case errors.Is(err, textfile.ErrWorkbook):
		return "", "", fmt.Errorf(`%s is a workbook, not a CSV file; open it in the spreadsheet and save it as "CSV UTF-8"`, c.File)
	case isEncoding && fallback != nil:
		return "", "", fmt.Errorf("%s, line %d: the text is not in %s; choose another --encoding", c.File, broken.Line, name)
	case isEncoding:
		return "", "", fmt.Errorf(`%s, line %d: the text is not in UTF-8; save the file as "CSV UTF-8", or name its encoding, for instance --encoding windows-1252`, c.File, broken.Line)
	case err != nil:
		return "", "", fmt.Errorf("%s: %w", c.File, err)
	}
	return text, cmp.Or(detected, name), nil
}
