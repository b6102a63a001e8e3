package console

// Sections are the pages that every page leads to.
var Sections = sections()
