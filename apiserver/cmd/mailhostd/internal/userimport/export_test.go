package userimport

// What the command prints, and the size of its requests, for the tests of what it does.
type (
	ImportResult   = importResult
	ImportedDomain = importedDomain
)

const ImportBulk = importBulk
