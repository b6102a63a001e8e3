package serve

// What doctor prints, and a limit, for the tests of what they do.
type Check = check

const (
	CheckOK        = checkOK
	CheckWarning   = checkWarning
	CheckFailed    = checkFailed
	MaxHeaderBytes = maxHeaderBytes
)
