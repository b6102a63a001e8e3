package console

// Sections are the pages in the navigation.
var Sections = sections()
