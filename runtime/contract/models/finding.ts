/** Findings: what is wrong with the access that is there, and what to do next. Ours. */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { reasonText } from './reference.ts'

export const SEVERITIES = ['LOW', 'MEDIUM', 'HIGH'] as const
export type Severity = (typeof SEVERITIES)[number]

export const FINDING_STATES = ['OPEN', 'ACCEPTED', 'RESOLVED'] as const

/** How long something is not used before that is a finding, in days. */
export const UNUSED_DAYS = 90
/** How long after its removal access that is there again is a finding, in days. */
export const REAPPEARED_DAYS = 90
/** The longest time for which a finding may be accepted, in days. */
export const MAX_ACCEPTED_DAYS = 366

type FindingRow = { severity: Severity; meaning: string; nextStep: string }

/** FINDINGS: kind -> how bad it is, what it means and what to do. When each is found: core/findings/rules.ts. */
export const FINDINGS = {
  ORPHAN_ACCOUNT: {
    severity: 'MEDIUM',
    meaning: 'an active account of a person that nobody is known to have',
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
    meaning: `a licence of an account that was not used for ${UNUSED_DAYS} days`,
    nextStep: 'Ask the person to give it back, or reject it in an access review',
  },
  DORMANT_PRIVILEGE: {
    severity: 'HIGH',
    meaning: `a privileged entitlement of an account that was not used for ${UNUSED_DAYS} days`,
    nextStep: 'Take it back, and let the person ask for it for a limited time when it is needed',
  },
  SERVICE_ACCOUNT_WITHOUT_OWNER: {
    severity: 'MEDIUM',
    meaning: 'an active service account that belongs to nobody',
    nextStep: 'Find who is responsible for it, and match it to that person; else close it',
  },
  UNEXPLAINED_ENTITLEMENT: {
    severity: 'MEDIUM',
    meaning:
      'an entitlement that appeared after the first sync of an app of the store, and that neither a request nor a policy gave',
    nextStep: 'Ask the admins of the app who gave it and why; have it requested, or take it back',
  },
  REAPPEARED: {
    severity: 'HIGH',
    meaning: `access that an access review removed within the last ${REAPPEARED_DAYS} days, and that is there again`,
    nextStep: 'Find out in the app who gave it again, and remove it there',
  },
  SEPARATION_BROKEN: {
    severity: 'HIGH',
    meaning: 'a person who holds both sides of a rule of separation of duties',
    nextStep: 'Take one side back, or accept it with a reason and an end',
  },
  SYNC_STALE: {
    severity: 'MEDIUM',
    meaning: 'a connected app whose last complete sync is too old',
    nextStep: 'See why its syncs fail (keyway syncs), and start one (POST /apps/{app_id}/sync)',
  },
  CONNECTOR_OUTDATED: {
    severity: 'LOW',
    meaning: 'a connected app whose connector has a newer version uploaded, or is not served',
    nextStep: 'Switch to the newest version, or install it again (keyway list)',
  },
} as const satisfies Record<string, FindingRow>
export type FindingKind = keyof typeof FINDINGS
export const FINDING_KINDS = keysOf(FINDINGS)

/** FINDING_EVENTS: what the activity log records about findings, and webhooks of type SIEM receive. */
export const FINDING_EVENTS = {
  FINDING_OPENED: 'a look found it',
  FINDING_RESOLVED: 'a look found that it is no longer so',
  FINDING_ACCEPTED: 'a person accepted it; `until` and `reason` say for how long and why',
  FINDING_REOPENED: 'a person took an acceptance back, or its time is over',
  FINDINGS_OPENED: 'a look found more of one kind than are told one by one: `kind` and `count`',
  FINDINGS_RESOLVED: 'the same for what is no longer so',
} as const satisfies Record<string, string>
export type FindingEvent = keyof typeof FINDING_EVENTS

export const AccessFinding = strictObject('Finding', 'Something wrong with access that is there', {
  id: v.string(),
  kind: v.picklist(FINDING_KINDS),
  severity: v.picklist(SEVERITIES),
  state: described(
    v.picklist(FINDING_STATES),
    'RESOLVED: it was looked at again and is no longer so',
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
    'What was seen, by name',
  ),
  owner_user_ids: described(
    v.array(v.string()),
    'Who is responsible: the admins of the app; empty: those of the domain',
  ),
  owner_group_ids: v.array(v.string()),
  opened_at: utcMoment,
  opened_run: nullable(described(v.number(), 'The last complete sync of the app by then')),
  resolved_at: nullable(utcMoment),
  resolved_run: nullable(v.number()),
  accepted_at: nullable(utcMoment),
  accepted_until: nullable(described(v.string(), 'From then it is open again')),
  accepted_by_id: nullable(v.string()),
  reason: nullable(described(v.string(), 'Why it is accepted')),
})
export type AccessFinding = v.InferInput<typeof AccessFinding>

export const AcceptFindingInput = strictObject('AcceptFindingInput', {
  reason: reasonText(500, 'Why it may stay'),
  until: described(
    v.string(),
    `When it is open again: ISO 8601, at most ${MAX_ACCEPTED_DAYS} days from now`,
  ),
})
export type AcceptFindingInput = v.InferOutput<typeof AcceptFindingInput>
