package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bullets formats lines as a list for a message. It never shortens the list: objects that a plan deletes
// or leaves behind are named nowhere else. It quotes a line with unprintable characters from the API,
// which could change the terminal or end the line.
func Bullets(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if strings.ContainsFunc(line, func(c rune) bool { return !unicode.IsPrint(c) }) {
			line = strconv.Quote(line)
		}
		b.WriteString("\n  - " + line)
	}
	return b.String()
}

// mostReviewed is the number of lines that people read.
const mostReviewed = 20

// FirstBullets is Bullets of the first 20 lines, and the number of further lines.
func FirstBullets(lines []string) string {
	if len(lines) <= mostReviewed+1 { // "and 1 more" is not shorter than the line
		return Bullets(lines)
	}
	return Bullets(lines[:mostReviewed]) + fmt.Sprintf("\n  - and %d more", len(lines)-mostReviewed)
}

// Paragraphs joins the non-empty parts.
func Paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n\n")
}

// Enumeration joins words, as in "a, b and c".
func Enumeration(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Sentence returns a message with a capital at the beginning and a full stop at the end.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	s = capital(s)
	if !strings.ContainsAny(s[len(s)-1:], ".!?)") {
		s += "."
	}
	return s
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// Plural returns the form of a noun for a number.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Guides is the address of the guides.
const Guides = "https://registry.terraform.io/providers/mailhost/mailhost/latest/docs/guides/"

// ImportAdvice explains how to import an existing object into the resource that failed to create it. key
// is an import id of the object. Core does not send the resource's address, which it shows above the message.
func ImportAdvice(resourceType, key string) string {
	return fmt.Sprintf("To manage it with this resource, import it: add this block, with the address that this message names after \"with\", and run apply again.\n\n"+
		"  import {\n    to = %s.<name>\n    id = %s\n  }", resourceType, quoteHCL(key))
}

// quoteHCL returns a string as a quoted HCL template without interpolation.
func quoteHCL(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}
