package proxy

import (
	"cmp"
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// separators are characters that a local part may contain, and that separate it from other text more often.
const separators = "'=/&?|"

var (
	// addressPattern matches an address in a text.
	addressPattern = regexp.MustCompile("[\\pL\\pM\\pN.!#$%&'*+/=?^_`{|}~-]+@(?:[\\pL\\pM\\pN-]+\\.)+[\\pL\\pN-]{2,}")
	// tokenPattern matches an id, a dotted name or a word.
	tokenPattern = regexp.MustCompile(`[[:xdigit:]]{8}(?:-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}|[\pL\pM\pN_-]+(?:\.[\pL\pM\pN_-]+)+|[\pL\pM\pN_]+`)
	// escapedPattern matches a part of a text that contains an escaped byte of a URL.
	escapedPattern = regexp.MustCompile(`[^\s"]*%[[:xdigit:]]{2}[^\s"]*`)
)

// address replaces an address, with or without the name of a person before it, or a local part alone.
func (a *anonymizer) address(s string) string {
	if a.isFixed(s) {
		return s
	}
	parsed, err := mail.ParseAddress(s)
	at := strings.LastIndex(s, "@")
	switch {
	case err == nil && parsed.Name != "":
		return a.replace(nameForm, parsed.Name) + " <" + a.address(parsed.Address) + ">"
	case at > 0 && s[:at] != "*":
		a.domains[strings.ToLower(s[at+1:])] = strings.Contains(s[at+1:], ".")
		return a.replace(userForm, s[:at]) + "@" + a.text(s[at+1:])
	case at >= 0:
		return s
	}
	return a.replace(userForm, s)
}

// addresses replaces the addresses in a text.
func (a *anonymizer) addresses(s string) string {
	return addressPattern.ReplaceAllStringFunc(s, func(match string) string {
		local := match[:strings.LastIndex(match, "@")]
		start := 0 // of a known local part, or else after the last character that a local part seldom contains
		for a.replacements[userForm+strings.ToLower(local[start:])] == "" {
			next := strings.IndexAny(local[start:], separators)
			if next < 0 {
				break
			}
			start += next + 1
		}
		if start == len(local) || local[start:] == "*" {
			return match
		}
		return local[:start] + a.replace(userForm, local[start:]) + match[len(local):]
	})
}

// text replaces the addresses in a text, and the words that are personal values.
func (a *anonymizer) text(s string) string {
	s = escapedPattern.ReplaceAllStringFunc(s, func(escaped string) string {
		unescaped, err := url.PathUnescape(escaped)
		if replaced := a.text(unescaped); err == nil && replaced != unescaped {
			return (&url.URL{Path: replaced}).EscapedPath()
		}
		return escaped
	})
	var b strings.Builder
	end := 0
	for _, address := range addressPattern.FindAllStringIndex(s, -1) {
		b.WriteString(a.replaceWords(s[end:address[0]]))
		b.WriteString(a.addresses(s[address[0]:address[1]]))
		end = address[1]
	}
	b.WriteString(a.replaceWords(s[end:]))
	return b.String()
}

// replaceWords replaces the longest sequences of words that are personal values.
func (a *anonymizer) replaceWords(s string) string {
	var b strings.Builder
	end := 0
	tokens := tokenPattern.FindAllStringIndex(s, -1)
	for i := 0; i < len(tokens); i++ {
		for _, n := range a.lengths {
			if i+n > len(tokens) {
				continue
			}
			replacement := a.word(s[tokens[i][0]:tokens[i+n-1][1]])
			if replacement != "" {
				b.WriteString(s[end:tokens[i][0]])
				b.WriteString(replacement)
				i += n - 1
				end = tokens[i][1]
				break
			}
		}
	}
	return b.String() + s[end:]
}

// word returns the replacement of a word or a sequence of words, or "".
func (a *anonymizer) word(s string) string {
	if a.isFixed(s) {
		return ""
	}
	s = norm.NFC.String(s)
	lower := strings.ToLower(s)
	if found := cmp.Or(a.words[s], a.words[lower], a.parts[lower]); found != "" || !strings.Contains(s, ".") {
		return found
	}
	labels := strings.Split(s, ".") // such as jane.doe
	for i, label := range labels {
		if labels[i] = cmp.Or(a.words[label], a.words[strings.ToLower(label)], a.parts[strings.ToLower(label)]); labels[i] == "" {
			return ""
		}
	}
	return strings.Join(labels, ".")
}

// isFixed reports whether a value is an id, or a domain of the recording or a name in it.
func (a *anonymizer) isFixed(s string) bool {
	if api.IsID(s) || a.ids[s] || strings.ContainsAny(s, "@ ") {
		return api.IsID(s) || a.ids[s]
	}
	for s = strings.ToLower(s); strings.Contains(s, "."); _, s, _ = strings.Cut(s, ".") {
		if a.domains[s] {
			return true
		}
	}
	return false
}

// replace returns the replacement of a personal value, and learns it for texts.
func (a *anonymizer) replace(form, value string) string {
	value = norm.NFC.String(value)
	if form == userForm {
		value = strings.ToLower(value)
	}
	key := form + value
	if found := a.replacements[key]; found != "" {
		return found
	}
	a.numbers[form]++
	replacement := fmt.Sprintf(form, a.numbers[form])
	a.replacements[key] = replacement
	tokens := tokenPattern.FindAllStringIndex(value, -1)
	if len(tokens) == 0 || form == textForm && len(tokens) == 1 { // a single word of a free text may be any word
		return replacement
	}
	value = value[tokens[0][0]:tokens[len(tokens)-1][1]]
	a.learn(a.words, value, replacement, len(tokens))
	if len(tokens) > 1 && (form == firstForm || form == lastForm || form == nameForm) {
		for _, token := range tokenPattern.FindAllString(value, -1) {
			if first, _ := utf8.DecodeRuneInString(token); unicode.IsUpper(first) && utf8.RuneCountInString(token) > 2 {
				a.learn(a.parts, token, replacement, 1)
			}
		}
	}
	return replacement
}

// learn adds the replacement of a value with a number of tokens, unless it is a single letter or a word of the API.
func (a *anonymizer) learn(words map[string]string, value, replacement string, tokens int) {
	lower := strings.ToLower(value)
	if utf8.RuneCountInString(value) < 2 || vocabulary()[lower] {
		return
	}
	for _, key := range []string{value, lower} {
		if words[key] == "" {
			words[key] = replacement
		}
	}
	if !slices.Contains(a.lengths, tokens) {
		a.lengths = append(a.lengths, tokens)
		slices.SortFunc(a.lengths, func(a, b int) int { return b - a })
	}
}
