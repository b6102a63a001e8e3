# By name, or by UUID. Its token is not known afterwards.
terraform import mailhost_service_account.ci ci-deploy
