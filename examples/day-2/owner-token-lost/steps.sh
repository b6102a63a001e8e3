# Whoever holds the database makes another one, and revokes the lost one.
mailhostd token create owner --no-json # prints: owner
mailhostd token create owner-2 --no-json # prints: owner-2
mailhostd token revoke owner # prints: owner
mailhostd token list # prints: owner-2
