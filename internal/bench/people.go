package main

import (
	"fmt"
	"strings"
)

// person is the owner of a mailbox.
type person struct{ localPart, first, last string }

// personAt returns the n-th person. The names repeat as people's do; the local parts are
// unique.
func personAt(n int) person {
	first, last := name(n*7919), name(n*104729+17)
	return person{fmt.Sprintf("%s.%s.%d", strings.ToLower(first), strings.ToLower(last), n), first, last}
}

// name returns one of 343,000 names of three syllables.
func name(n int) string {
	const consonants, vowels = "bdfgklmnprstvw", "aeiou"
	var b strings.Builder
	for range 3 {
		b.WriteByte(consonants[n%len(consonants)])
		b.WriteByte(vowels[n/len(consonants)%len(vowels)])
		n /= len(consonants) * len(vowels)
	}
	s := b.String()
	return strings.ToUpper(s[:1]) + s[1:]
}

// people returns a CSV file of the first n people.
func people(n int) string {
	var b strings.Builder
	b.WriteString("local_part,first_name,last_name\n")
	for i := range n {
		p := personAt(i)
		fmt.Fprintf(&b, "%s,%s,%s\n", p.localPart, p.first, p.last)
	}
	return b.String()
}
