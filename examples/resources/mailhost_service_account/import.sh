# By name or UUID. The token stays unknown.
terraform import mailhost_service_account.ci ci-deploy
