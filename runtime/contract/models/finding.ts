/** Findings: problems with existing access, and the next step for each. Keyway's own. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { reasonText } from './reference.ts'

export const SEVERITIES = ['LOW', 'MEDIUM', 'HIGH'] as const
export type Severity = (typeof SEVERITIES)[number]

export const FINDING_STATES = ['OPEN', 'ACCEPTED', 'RESOLVED'] as const

/** Days without use after which access is a finding. */
export const UNUSED_DAYS = 90
/** Days after its removal during which access that is back is a finding. */
export const REAPPEARED_DAYS = 90
/** Longest time for which a finding may be accepted, in days. */
export const MAX_ACCEPTED_DAYS = 366

type FindingRow = { severity: Severity; meaning: string; nextStep: string }

/** Kind -> severity, meaning and next step. The conditions for each: core/findings/rules.ts. */
export const FINDINGS = {
  ORPHAN_ACCOUNT: {
    severity: 'MEDIUM',
    meaning: 'an active account for people that is not matched to a person',
    nextStep:
      'Add a match rule to the sync settings of the app, import the person, or remove the account in an access review',
  },
  LEAVER_ACCOUNT: {
    severity: 'HIGH',
    meaning: 'an active account of a person who is suspended or has left',
    nextStep:
      'Offboard the person (POST /lifecycle-management/user-offboardings), or close the account in the app',
  },
  UNUSED_LICENCE: {
    severity: 'LOW',
    meaning: `a licence of an account unused for ${UNUSED_DAYS} days`,
    nextStep: 'Ask the person to give it back, or reject it in an access review',
  },
  DORMANT_PRIVILEGE: {
    severity: 'HIGH',
    meaning: `a privileged entitlement of an account unused for ${UNUSED_DAYS} days`,
    nextStep: 'Remove it, and have the person request it for a limited time when needed',
  },
  SERVICE_ACCOUNT_WITHOUT_OWNER: {
    severity: 'MEDIUM',
    meaning: 'an active service account without an owner',
    nextStep: 'Find the responsible person and match the account to them, or close it',
  },
  UNEXPLAINED_ENTITLEMENT: {
    severity: 'MEDIUM',
    meaning:
      'an entitlement in an app of the store that appeared after its first sync without a request or policy',
    nextStep: 'Ask the admins of the app who granted it and why; have it requested, or remove it',
  },
  REAPPEARED: {
    severity: 'HIGH',
    meaning: `access that an access review removed within the last ${REAPPEARED_DAYS} days and that has reappeared`,
    nextStep: 'Find out in the app who granted it again, and remove it there',
  },
  SEPARATION_BROKEN: {
    severity: 'HIGH',
    meaning: 'a person who holds both sides of a rule of separation of duties',
    nextStep: 'Remove one side, or accept it with a reason and an end',
  },
  SYNC_STALE: {
    severity: 'MEDIUM',
    meaning: 'a connected app whose last complete sync is too old',
    nextStep:
      'Find out why its syncs fail (keyway syncs), and start one (POST /apps/{app_id}/sync)',
  },
  CONNECTOR_OUTDATED: {
    severity: 'LOW',
    meaning: 'a connected app whose connector is not served, or has a newer uploaded version',
    nextStep: 'Switch to the newest version, or install it again (keyway list)',
  },
} as const satisfies Record<string, FindingRow>
export type FindingKind = keyof typeof FINDINGS
export const FINDING_KINDS = keysOf(FINDINGS)

/** Events about findings that the activity log records and webhooks of type SIEM receive. */
export const FINDING_EVENTS = {
  FINDING_OPENED: 'a check found it',
  FINDING_RESOLVED: 'a check found that it no longer applies',
  FINDING_ACCEPTED: 'a person accepted it; `until` and `reason` contain the end and the reason',
  FINDING_REOPENED: 'a person withdrew an acceptance, or it expired',
  FINDINGS_OPENED:
    'a check found more of one kind than are recorded individually: `kind` and `count`',
  FINDINGS_RESOLVED: 'the same for findings that no longer apply',
} as const satisfies Record<string, string>
export type FindingEvent = keyof typeof FINDING_EVENTS

export const AccessFinding = strictObject('Finding', 'A problem with existing access', {
  id: v.string(),
  kind: v.picklist(FINDING_KINDS),
  severity: v.picklist(SEVERITIES),
  state: described(
    v.picklist(FINDING_STATES),
    'RESOLVED: a later check found that it no longer applies',
  ),
  meaning: v.string(),
  next_step: described(v.string(), 'What to do'),
  app_id: nullable(v.string()),
  app_name: nullable(v.string()),
  account_id: nullable(v.string()),
  unique_identifier: nullable(described(v.string(), 'Id of the account in the app')),
  user_id: nullable(v.string()),
  user_email: nullable(v.string()),
  label: nullable(described(v.string(), 'The entitlement, as the app calls it')),
  separation_rule_id: nullable(v.string()),
  details: described(
    v.record(v.string(), v.union([v.string(), v.number(), v.array(v.string())])),
    'Observed facts, by name',
  ),
  owner_user_ids: described(
    v.array(v.string()),
    'Responsible users: the admins of the app; empty: those of the domain',
  ),
  owner_group_ids: v.array(v.string()),
  opened_at: utcMoment,
  opened_run: nullable(described(v.number(), 'The last complete sync of the app at that time')),
  resolved_at: nullable(utcMoment),
  resolved_run: nullable(v.number()),
  accepted_at: nullable(utcMoment),
  accepted_until: nullable(described(v.string(), 'Time at which it is reopened')),
  accepted_by_id: nullable(v.string()),
  reason: nullable(described(v.string(), 'Why it is accepted')),
})
export type AccessFinding = v.InferInput<typeof AccessFinding>

export const AcceptFindingInput = strictObject('AcceptFindingInput', {
  reason: reasonText(500, 'Why it is acceptable'),
  until: described(
    v.string(),
    `Time at which it is reopened: ISO 8601, at most ${MAX_ACCEPTED_DAYS} days from now`,
  ),
})
export type AcceptFindingInput = v.InferOutput<typeof AcceptFindingInput>
