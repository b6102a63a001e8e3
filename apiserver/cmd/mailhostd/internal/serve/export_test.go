package serve

// What doctor prints, and a limit, for the tests of what they do.
type Check = check

var DescribeSpace = describeSpace

const (
	CheckOK        = checkOK
	CheckWarning   = checkWarning
	CheckFailed    = checkFailed
	MaxHeaderBytes = maxHeaderBytes
)
