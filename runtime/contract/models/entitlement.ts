/** What may be granted, where, and who holds it: connector-interface.md sections 2.3, 2.4, 2.6. */
import * as v from 'valibot'
import { freeObject, stringMap } from '../schema/free-object.ts'
import { nullable } from '../schema/optional.ts'
import { accountId } from './account.ts'

const resourceId = v.pipe(
  v.string(),
  v.metadata({ description: 'The resource; the empty string is the global one' }),
)
const entitlementId = v.pipe(v.string(), v.metadata({ description: 'The entitlement, by its id' }))

const entitlement = {
  entitlement_type: v.string(),
  integration_specific_id: entitlementId,
  integration_specific_resource_id: resourceId,
  label: v.string(),
  is_assignable: nullable(v.boolean()),
  description: nullable(v.string()),
  extra_data: nullable(freeObject()),
  custom_attributes: nullable(stringMap()),
}

const resource = {
  integration_specific_id: v.string(),
  label: v.pipe(v.string(), v.metadata({ description: 'Human readable' })),
  resource_type: v.string(),
  description: nullable(v.string()),
  extra_data: nullable(freeObject()),
}

const association = {
  account_id: accountId(),
  integration_specific_entitlement_id: entitlementId,
  integration_specific_resource_id: resourceId,
}

export const applicationInstanceId = v.pipe(
  v.string(),
  v.metadata({ semantic: 'application-instance-id', description: 'The application, by its id' }),
)

export const FoundEntitlementData = v.pipe(
  v.strictObject(entitlement),
  v.metadata({ title: 'FoundEntitlementData', description: 'Something that can be granted' }),
)

export const ApplicationEntitlementData = v.pipe(
  v.strictObject({ ...entitlement, application_instance_id: applicationInstanceId }),
  v.metadata({
    title: 'ApplicationEntitlementData',
    description: 'An entitlement of an application',
  }),
)

export const FoundResourceData = v.pipe(
  v.strictObject(resource),
  v.metadata({ title: 'FoundResourceData', description: 'Something that entitlements belong to' }),
)

export const ApplicationResourceData = v.pipe(
  v.strictObject({ ...resource, application_instance_id: applicationInstanceId }),
  v.metadata({ title: 'ApplicationResourceData', description: 'A resource of an application' }),
)

export const FoundEntitlementAssociation = v.pipe(
  v.strictObject(association),
  v.metadata({ title: 'FoundEntitlementAssociation', description: 'Who holds what, and where' }),
)

export const ApplicationEntitlementAssociation = v.pipe(
  v.strictObject({ ...association, application_instance_id: applicationInstanceId }),
  v.metadata({
    title: 'ApplicationEntitlementAssociation',
    description: 'Who holds what in an application',
  }),
)

/** An entitlement that a new account needs from the start (types whose `min` is above 0). */
export const CreateAccountEntitlement = v.pipe(
  v.object({
    entitlement_type: v.string(),
    integration_specific_id: entitlementId,
    integration_specific_resource_id: v.nullish(resourceId, ''),
  }),
  v.metadata({ title: 'CreateAccountEntitlement' }),
)
