/**
 * Entitlements, the resources they belong to, and their holders: connector-interface.md sections 2.3, 2.4,
 * 2.6.
 */
import * as v from 'valibot'
import {
  described,
  freeObject,
  nullable,
  object,
  strictObject,
  stringMap,
} from '../schema/schemas.ts'
import { accountId } from './account.ts'

const resourceId = described(v.string(), 'Id of the resource; empty for the global one')
const entitlementId = described(v.string(), 'Id of the entitlement')

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
  label: described(v.string(), 'Human readable'),
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
  v.metadata({ semantic: 'application-instance-id', description: 'Id of the application' }),
)

export const FoundEntitlementData = strictObject(
  'FoundEntitlementData',
  'An entitlement that can be granted',
  entitlement,
)

export const ApplicationEntitlementData = strictObject(
  'ApplicationEntitlementData',
  'An entitlement of an application',
  { ...entitlement, application_instance_id: applicationInstanceId },
)

export const FoundResourceData = strictObject(
  'FoundResourceData',
  'A resource that entitlements belong to',
  resource,
)

export const ApplicationResourceData = strictObject(
  'ApplicationResourceData',
  'A resource of an application',
  { ...resource, application_instance_id: applicationInstanceId },
)

export const FoundEntitlementAssociation = strictObject(
  'FoundEntitlementAssociation',
  'An entitlement that an account holds',
  association,
)

export const ApplicationEntitlementAssociation = strictObject(
  'ApplicationEntitlementAssociation',
  'An entitlement that an account holds in an application',
  { ...association, application_instance_id: applicationInstanceId },
)

/** Entitlement that a new account needs from the start: one of a type whose `min` is above 0. */
export const CreateAccountEntitlement = object('CreateAccountEntitlement', {
  entitlement_type: v.string(),
  integration_specific_id: entitlementId,
  integration_specific_resource_id: v.nullish(resourceId, ''),
})
