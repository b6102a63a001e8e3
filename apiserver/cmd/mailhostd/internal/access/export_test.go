package access

// What the commands print, for the tests of what they do.
type (
	CreatedToken = createdToken
	Identity     = identity
	ListedToken  = listedToken
)

var DescribeRights = describeRights
