# By <domain>/<target>, by <workspace UUID>/<target>, by the target alone for a rule
# of the whole account, or by the rule's UUID.
terraform import mailhost_forwarding.office example.com/office@example.com
