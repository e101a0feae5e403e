/** Applications of an identity provider: connector-interface.md section 2.10. */
import * as v from 'valibot'
import { described, nullable, strictObject } from '../schema/schemas.ts'
import { AccountStatus, accountId } from './account.ts'
import { applicationInstanceId } from './entitlement.ts'

export const Application = strictObject(
  'Application',
  'An application that accounts can be assigned to',
  {
    id: described(v.string(), 'application_instance_id in the other capabilities'),
    name: v.string(),
    status: v.picklist(['ACTIVE', 'INACTIVE']),
    sign_on_mode: v.string(),
    assignment_modes: v.array(v.picklist(['ACCOUNT', 'ENTITLEMENT'])),
    display_name: nullable(v.string()),
    description: nullable(v.string()),
    logo: nullable(v.string()),
    sso_login_url: nullable(v.string()),
  },
)

export const ApplicationAccount = strictObject(
  'ApplicationAccount',
  'An account assigned to an application',
  {
    account_id: accountId(),
    application_instance_id: applicationInstanceId,
    status: AccountStatus,
  },
)
