package service

import (
	"fmt"
	"strconv"
	"strings"
)

// ImportAdvice says how to manage, with the resource that could not create it, an
// object that exists already. key is an import id of the object.
func ImportAdvice(resourceType, key string) string {
	return fmt.Sprintf("To manage it with this resource, import it. Either add this block with the address of the resource, and run apply again:\n\n"+
		"  import {\n    to = %[1]s.<name>\n    id = %[2]s\n  }\n\nor run: terraform import '%[1]s.<name>' %[3]s", resourceType, quoteHCL(key), quoteShell(key))
}

// quoteHCL returns a string as a quoted template of HCL without interpolation.
func quoteHCL(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}

// quoteShell returns a string as one word of a POSIX shell.
func quoteShell(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
