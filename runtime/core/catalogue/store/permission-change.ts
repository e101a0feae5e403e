/** Effect of a change of a permission's `request_config` on its document and columns. */
import { membersOf } from '../../../contract/schema/record.ts'
import type { StoredDocument } from '../../../database/schema/app_store.ts'
import { allowedIds, namesNoOne, withoutSecondStage } from './approver-settings.ts'
import { documentIn, mergePatch } from './merge.ts'
import { configView } from './permission-view.ts'

/**
 * Returns the changed document, with the columns derived from it. The provisioning group stays as it was
 * (core-interface.md section 1.17).
 */
export function changedConfig(before: StoredDocument, change: StoredDocument | null) {
  const kept = fulfillmentOf(before)['provisioning_group']
  const merged = change === null ? {} : mergePatch(before, flagged(change))
  const approval = membersOf(merged['request_approval_config'])
  const asked = membersOf(change?.['request_approval_config'])
  const document: StoredDocument = {
    ...merged,
    ...(approval ? { request_approval_config: withoutSecondStage(approval, asked) } : {}),
    ...(kept
      ? { request_fulfillment_config: { ...fulfillmentOf(merged), provisioning_group: kept } }
      : {}),
  }
  const view = configView(document)
  return {
    document,
    visibility: view.appstore_visibility,
    allowedGroupsOverride: view.allowed_groups_override,
    allowedGroupIds: view.allowed_groups && allowedIds(view.allowed_groups),
  }
}

/** Returns the fulfilment part of a document. */
export const fulfillmentOf = (document: StoredDocument): StoredDocument =>
  membersOf(document['request_fulfillment_config'])

/**
 * Adds the override flags that a change leaves out. A meaningful value is meant to take effect, so its flag
 * is set. `null` resets a member, so its flag is reset too. A bare default (no groups, no approvers) does not
 * count: clients fill those in on their own, and they must not lift the requirements of the app.
 */
function flagged(change: StoredDocument): StoredDocument {
  const approval = documentIn(change, 'request_approval_config')
  const fulfillment = documentIn(change, 'request_fulfillment_config')
  return {
    ...change,
    ...flag(change, 'allowed_groups_override', [change['allowed_groups']], says.groups),
    ...(approval
      ? {
          request_approval_config: {
            ...approval,
            ...flag(
              approval,
              'request_approval_config_override',
              [
                approval['manager_approval'] === 'INITIAL_APPROVAL',
                approval['require_additional_approval'] === true,
                approval['approvers'],
                approval['approvers_stage_2'],
                approval['request_approval_stages'],
              ],
              says.approval,
            ),
            ...flag(
              approval,
              'custom_approval_message_override',
              [approval['custom_approval_message']],
              says.text,
            ),
          },
        }
      : {}),
    ...(fulfillment
      ? {
          request_fulfillment_config: {
            ...fulfillment,
            ...flag(
              fulfillment,
              'time_based_access_override',
              [fulfillment['time_based_access']],
              says.list,
            ),
          },
        }
      : {}),
  }
}

function flag(
  change: StoredDocument,
  name: string,
  values: unknown[],
  saysSomething: (value: unknown) => boolean,
): StoredDocument {
  if (change[name] !== undefined) return {}
  if (values.some((value) => value !== null && value !== undefined && saysSomething(value)))
    return { [name]: true }
  return values.every((value) => value === null) ? { [name]: null } : {}
}

const says = {
  text: (value: unknown) => value !== '',
  list: (value: unknown) => !Array.isArray(value) || value.length > 0,
  groups: (value: unknown) => {
    const { type, groups } = membersOf(value)
    return type === 'SPECIFIED_GROUPS' || (Array.isArray(groups) && groups.length > 0)
  },
  approval: (value: unknown) => {
    if (typeof value === 'boolean') return value
    if (!Array.isArray(value)) return !namesNoOne(membersOf(value))
    return value.some((stage) => [membersOf(stage)['approvers'] ?? []].flat().length > 0)
  },
}
