# Jane's token with the tokens that she has made by it, and then her own rights.
mailhostd token create jane
mailhostd grant add --user jane --grant account_owner
mailhostd token revoke jane --with-children
mailhostd grant remove --user jane --with-children
! mailhostd grant list --no-json | grep jane
