/** Applications of an identity provider: connector-interface.md section 2.10. */
import * as v from 'valibot'
import { nullable } from '../schema/optional.ts'
import { AccountStatus, accountId } from './account.ts'
import { applicationInstanceId } from './entitlement.ts'

export const Application = v.pipe(
  v.strictObject({
    id: v.pipe(
      v.string(),
      v.metadata({ description: 'The application_instance_id of the other capabilities' }),
    ),
    name: v.string(),
    status: v.picklist(['ACTIVE', 'INACTIVE']),
    sign_on_mode: v.string(),
    assignment_modes: v.array(v.picklist(['ACCOUNT', 'ENTITLEMENT'])),
    display_name: nullable(v.string()),
    description: nullable(v.string()),
    logo: nullable(v.string()),
    sso_login_url: nullable(v.string()),
  }),
  v.metadata({
    title: 'Application',
    description: 'An application that accounts can be assigned to',
  }),
)

export const ApplicationAccount = v.pipe(
  v.strictObject({
    account_id: accountId(),
    application_instance_id: applicationInstanceId,
    status: AccountStatus,
  }),
  v.metadata({ title: 'ApplicationAccount', description: 'An account assigned to an application' }),
)
