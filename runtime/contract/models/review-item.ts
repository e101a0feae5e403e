/** Decisions in an access review: its lines, their reviewers, decisions, and progress. Keyway's own. */

import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, maybe, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { AccessReason } from './access.ts'
import { REVIEW_APP_STATUSES } from './access-review.ts'
import { listOf } from './reference.ts'
import { MAX_FILTERS, ScopeFilter } from './review-scope.ts'
import type { TaskType } from './task-type.ts'

/** Type of the task that asks a reviewer to decide on lines of an access review. */
export const REVIEW_TASK = 'ACCESS_REVIEW' satisfies TaskType

const count = v.number()

/** States of a line. Their meanings and transitions: core/reviews/machine/states.ts. */
export const ITEM_STATES = [
  'OPEN',
  'TO_CONFIRM',
  'KEPT',
  'REJECTED',
  'TO_MODIFY',
  'NOT_DECIDED',
  'VANISHED',
  'REMOVING',
  'REMOVED',
  'WAITING_FOR_HANDS',
  'EXCEPTED',
] as const
export type ItemState = (typeof ITEM_STATES)[number]

export const DECISIONS = ['KEEP', 'REJECT', 'MODIFY'] as const

/** Minimum number of peers for a meaningful share, and the share that counts as few. */
export const MIN_PEERS = 3
export const FEW_PEERS = 0.25

/** Hints about a line. Keeping a line with a red hint requires a reason. */
export const HINTS = {
  PERSON_TERMINATED: { red: true, meaning: 'the person is suspended or has left' },
  ACCOUNT_UNMATCHED: { red: true, meaning: 'the account is not matched to a person' },
  NEVER_USED: { red: false, meaning: 'the system reports logins, but none for this account' },
  UNUSED_90_DAYS: { red: false, meaning: 'last used more than 90 days ago' },
  SEPARATION_BROKEN: {
    red: true,
    meaning:
      'the person holds both sides of a rule of separation of duties, and this is part of one',
  },
  PRIVILEGED: { red: false, meaning: 'its name or type indicates administrative rights' },
  FEW_PEERS: {
    red: false,
    meaning:
      'fewer than a quarter of the people with the same manager (or else the same title) have it',
  },
  GIVEN_BY_POLICY: { red: false, meaning: 'an access policy grants it' },
  GIVEN_BY_REQUEST: { red: false, meaning: 'a person requested it, and it was approved' },
  NOBODY_ASKED: {
    red: false,
    meaning: 'a sync found it; neither a request nor a policy granted it',
  },
  NEW_SINCE_LAST_REVIEW: { red: false, meaning: 'it did not exist when the app was last reviewed' },
} as const satisfies Record<string, { red: boolean; meaning: string }>
export type Hint = keyof typeof HINTS
export const HINT_NAMES = keysOf(HINTS)

/** People who can confirm a line that was kept despite a red hint. */
export const SECOND_KINDS = ['MANAGERS', 'APP_ADMINS', 'NAMED'] as const
export const REVIEWER_KINDS = [...SECOND_KINDS, 'AS_LAST_TIME'] as const
export const ON_DEADLINE = ['LEAVE', 'REMOVE', 'ESCALATE'] as const

const ids = listOf(v.string(), 100)

const settings = {
  second_reviewers: nullable(
    described(
      v.picklist(SECOND_KINDS),
      'Who confirms lines that a reviewer keeps despite a red hint: a different person, chosen as in reviewers, with NAMED by second_user_ids and second_group_ids. Null: no confirmation',
    ),
  ),
  reviewers: described(
    v.picklist(REVIEWER_KINDS),
    'MANAGERS: the manager of each person; APP_ADMINS: the admins of the app; NAMED: user_ids and group_ids; AS_LAST_TIME: the last reviewer of the person’s access in the app, within the same series if the review recurs, or else as MANAGERS. People never review their own access; if no reviewer is left, the next manager, the admins of the app, then those of the domain review',
  ),
  on_deadline: described(
    v.picklist(ON_DEADLINE),
    'Handling of lines that are undecided at the deadline. LEAVE: they end as NOT_DECIDED; REMOVE: they are rejected; ESCALATE: the admins of the app are asked, and reminded every day',
  ),
}

export const AccessReviewSettings = strictObject(
  'AccessReviewSettings',
  'Reviewers, and effect of the deadline',
  {
    ...settings,
    user_ids: v.array(v.string()),
    group_ids: v.array(v.string()),
    second_user_ids: v.array(v.string()),
    second_group_ids: v.array(v.string()),
  },
)

export const AccessReviewSettingsInput = strictObject('AccessReviewSettingsInput', {
  reviewers: v.nullish(settings.reviewers, 'MANAGERS'),
  on_deadline: v.nullish(settings.on_deadline, 'LEAVE'),
  user_ids: v.nullish(ids, []),
  group_ids: v.nullish(ids, []),
  second_reviewers: v.nullish(v.picklist(SECOND_KINDS), null),
  second_user_ids: v.nullish(ids, []),
  second_group_ids: v.nullish(ids, []),
})
export type AccessReviewSettingsInput = v.InferOutput<typeof AccessReviewSettingsInput>

export const AccessReviewItem = strictObject(
  'AccessReviewItem',
  'A line of an access review: an entitlement of an account, or an account, as of the launch of the app',
  {
    id: v.string(),
    arda_id: described(v.string(), 'Id of the app within the review'),
    app_id: v.string(),
    state: v.picklist(ITEM_STATES),
    account_id: v.string(),
    unique_identifier: described(v.string(), 'Id of the account in the app'),
    account_type: v.string(),
    account_status: nullable(v.string()),
    account_email: nullable(v.string()),
    user_id: nullable(v.string()),
    user_email: nullable(v.string()),
    user_name: nullable(v.string()),
    entitlement_type: nullable(described(v.string(), 'Null if the account itself is reviewed')),
    entitlement_id: nullable(v.string()),
    resource_id: nullable(v.string()),
    label: nullable(v.string()),
    held_since: nullable(utcMoment),
    last_login: nullable(utcMoment),
    last_activity: nullable(utcMoment),
    reasons: v.array(AccessReason),
    hints: v.array(v.strictObject({ name: v.picklist(HINT_NAMES), red: v.boolean() })),
    peers: nullable(
      described(
        v.strictObject({ held: count, of: count }),
        'Other people with the same manager, or else the same title: how many of them hold it, and their number',
      ),
    ),
    reviewer_user_ids: v.array(v.string()),
    reviewer_group_ids: v.array(v.string()),
    reason: nullable(described(v.string(), 'Reason that the reviewer gave')),
    decided_by_id: nullable(v.string()),
    decided_at: nullable(utcMoment),
    kept_by_id: nullable(
      described(v.string(), 'First reviewer who kept it, if another person has to confirm that'),
    ),
    act_id: nullable(described(v.string(), 'The act that decided it')),
    problem: nullable(described(v.string(), 'Why it has not been removed yet')),
    gone_at: nullable(described(v.string(), 'Time at which the system was found not to have it')),
    gone_run: nullable(
      described(v.number(), 'The sync that found this; null if the system was queried directly'),
    ),
  },
)
export type AccessReviewItem = v.InferInput<typeof AccessReviewItem>

const filter = v.strictObject({
  arda_id: maybe(v.string()),
  state: maybe(listOf(v.picklist(ITEM_STATES), ITEM_STATES.length)),
  hint: maybe(listOf(v.picklist(HINT_NAMES), HINT_NAMES.length)),
  user_id: maybe(v.string()),
  entitlement_id: maybe(v.string()),
  search: maybe(described(v.string(), 'Part of the account, the address or the label')),
  scope_filters: maybe(
    described(
      listOf(ScopeFilter, MAX_FILTERS),
      'As in the scope of an app: at least one filter of each group must match',
    ),
  ),
})

/** Maximum number of lines that one act may list by id. */
const MAX_IDS = 1000

/** Maximum length of the reason for a decision on lines, in characters. */
export const MAX_LINE_REASON = 4000

export const DecideInput = strictObject(
  'DecideAccessReviewInput',
  'A reason is required to reject or modify, to keep a line with a red hint, and for more than 20 lines at once',
  {
    decision: v.picklist(DECISIONS),
    item_ids: maybe(listOf(v.string(), MAX_IDS)),
    filter: maybe(
      described(filter, 'Selects all matching open lines of the caller; {}: all of them'),
    ),
    reason: maybe(v.pipe(v.string(), v.maxLength(MAX_LINE_REASON))),
    change: v.nullish(
      described(v.boolean(), 'Also change decided lines; otherwise they stay unchanged'),
      false,
    ),
  },
)
export type DecideInput = v.InferOutput<typeof DecideInput>

export const DecideOutput = strictObject('DecideAccessReviewOutput', {
  act_id: nullable(v.string()),
  decided: described(count, 'Number of lines decided by this act'),
  results: described(
    v.array(
      v.strictObject({
        item_id: v.string(),
        state: nullable(v.picklist(ITEM_STATES)),
        error: nullable(v.string()),
      }),
    ),
    'One result per item of item_ids; empty for a filter',
  ),
})

export const ReassignItemInput = strictObject('ReassignAccessReviewItemInput', {
  user_ids: v.nullish(ids, []),
  group_ids: v.nullish(ids, []),
  reason: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_LINE_REASON)),
})

const states = described(v.record(v.string(), count), 'Number of lines by state')

const Population = strictObject('AccessReviewPopulation', {
  run: nullable(described(count, 'The complete sync it comes from; null for an app without syncs')),
  at: nullable(utcMoment),
  connector: nullable(v.string()),
  connector_version: nullable(v.string()),
  connector_digest: nullable(v.string()),
  synced: described(count, 'Number of items in the sync: synced = items + excluded + left_out'),
  items: count,
  excluded: described(v.record(v.string(), count), 'Number excluded, by filter group'),
  left_out: described(count, 'Number without a known account or entitlement'),
})

export const AccessReviewProgress = strictObject('AccessReviewProgress', {
  states,
  bulk_share: nullable(
    described(count, 'Share of decided lines that were decided in acts on more than 20 lines'),
  ),
  median_seconds: nullable(
    described(count, 'Median time between two consecutive acts of a reviewer, in seconds'),
  ),
  apps: v.array(
    v.strictObject({
      arda_id: v.string(),
      app_id: v.string(),
      app_name: v.string(),
      status: v.picklist(REVIEW_APP_STATUSES),
      problem: nullable(described(v.string(), 'Why it is stuck, and what to do')),
      population: nullable(Population),
      states,
      reviewers: v.array(
        v.strictObject({
          user_ids: v.array(v.string()),
          group_ids: v.array(v.string()),
          task_id: nullable(v.string()),
          why: v.string(),
          lines: count,
          open: count,
        }),
      ),
    }),
  ),
})
export type AccessReviewProgress = v.InferInput<typeof AccessReviewProgress>
