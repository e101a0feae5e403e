/** What is decided in an access review: its lines, their reviewers, decisions, and how far it is. Ours. */

import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, maybe, nullable, strictObject, utcMoment } from '../schema/schemas.ts'
import { AccessReason } from './access.ts'
import { REVIEW_APP_STATUSES } from './access-review.ts'
import { listOf } from './reference.ts'
import { MAX_FILTERS, ScopeFilter } from './review-scope.ts'

const count = v.number()

/** What each means and what may follow: core/reviews/machine/states.ts. */
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

/** Peers below which their number says nothing, and the share of them that is few. */
export const MIN_PEERS = 3
export const FEW_PEERS = 0.25

/** HINTS: what is worth knowing of a line; a red one must be answered with a reason when the line is kept. */
export const HINTS = {
  PERSON_TERMINATED: { red: true, meaning: 'the person is suspended or has left' },
  ACCOUNT_UNMATCHED: { red: true, meaning: 'nobody is known whose account it is' },
  NEVER_USED: { red: false, meaning: 'the system reports logins, and none for this account' },
  UNUSED_90_DAYS: { red: false, meaning: 'last used more than 90 days ago' },
  SEPARATION_BROKEN: {
    red: true,
    meaning:
      'the person holds both sides of a rule of separation of duties, and this is a part of it',
  },
  PRIVILEGED: { red: false, meaning: 'by its name or type it gives more than others have' },
  FEW_PEERS: {
    red: false,
    meaning:
      'fewer than a quarter of the people with the same manager, or else the same title, have it',
  },
  GIVEN_BY_POLICY: { red: false, meaning: 'an access policy gives it' },
  GIVEN_BY_REQUEST: { red: false, meaning: 'a person asked for it, and it was approved' },
  NOBODY_ASKED: { red: false, meaning: 'it was found; neither a request nor a policy gave it' },
  NEW_SINCE_LAST_REVIEW: { red: false, meaning: 'it was not there when the app was last reviewed' },
} as const satisfies Record<string, { red: boolean; meaning: string }>
export type Hint = keyof typeof HINTS
export const HINT_NAMES = keysOf(HINTS)

/** Who can confirm what was kept in spite of a red hint. */
export const SECOND_KINDS = ['MANAGERS', 'APP_ADMINS', 'NAMED'] as const
export const REVIEWER_KINDS = [...SECOND_KINDS, 'AS_LAST_TIME'] as const
export const ON_DEADLINE = ['LEAVE', 'REMOVE', 'ESCALATE'] as const

const ids = listOf(v.string(), 100)

const settings = {
  second_reviewers: nullable(
    described(
      v.picklist(SECOND_KINDS),
      'Who confirms what a reviewer keeps in spite of a red hint: another person than that reviewer, chosen as by reviewers, NAMED by second_user_ids and second_group_ids. Null: nobody has to',
    ),
  ),
  reviewers: described(
    v.picklist(REVIEWER_KINDS),
    'MANAGERS: of each person; APP_ADMINS: of the app; NAMED: user_ids and group_ids; AS_LAST_TIME: who reviewed what the person has in the app when it was last reviewed, in the same series where the review recurs, and as MANAGERS where nobody did. Nobody reviews their own access; where nobody is left the next manager, the admins of the app, then those of the domain do',
  ),
  on_deadline: described(
    v.picklist(ON_DEADLINE),
    'What becomes of lines that nobody has decided by the deadline. LEAVE: they end NOT_DECIDED; REMOVE: they are rejected; ESCALATE: the admins of the app are asked, and reminded every day',
  ),
}

export const AccessReviewSettings = strictObject(
  'AccessReviewSettings',
  'Who reviews, and what a deadline does',
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
  'An entitlement of an account, or an account, as it was when the app was launched',
  {
    id: v.string(),
    arda_id: described(v.string(), 'The app within the review'),
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
    entitlement_type: nullable(described(v.string(), 'Null where the account itself is reviewed')),
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
        'Of the others with the same manager, or else the same title: how many have it, and how many they are',
      ),
    ),
    reviewer_user_ids: v.array(v.string()),
    reviewer_group_ids: v.array(v.string()),
    reason: nullable(described(v.string(), 'What the reviewer said')),
    decided_by_id: nullable(v.string()),
    decided_at: nullable(utcMoment),
    kept_by_id: nullable(
      described(v.string(), 'Who kept it first, where another person has to confirm that'),
    ),
    act_id: nullable(described(v.string(), 'The act in which it was decided')),
    problem: nullable(described(v.string(), 'Why it could not be removed so far')),
    gone_at: nullable(described(v.string(), 'When it was read that the system does not hold it')),
    gone_run: nullable(described(v.number(), 'The sync that read it; null where it was asked for')),
  },
)
export type AccessReviewItem = v.InferInput<typeof AccessReviewItem>

const filter = v.strictObject({
  arda_id: maybe(v.string()),
  state: maybe(listOf(v.picklist(ITEM_STATES), ITEM_STATES.length)),
  hint: maybe(listOf(v.picklist(HINT_NAMES), HINT_NAMES.length)),
  user_id: maybe(v.string()),
  entitlement_id: maybe(v.string()),
  search: maybe(described(v.string(), 'A part of the account, the address or the label')),
  scope_filters: maybe(
    described(
      listOf(ScopeFilter, MAX_FILTERS),
      'As those of the scope of an app: of one group one must fit, of several groups each',
    ),
  ),
})

/** Most lines that one act may name by their ids. */
const MAX_IDS = 1000

/** Longest reason of a decision on lines of a review, in characters. */
export const MAX_LINE_REASON = 4000

export const DecideInput = strictObject(
  'DecideAccessReviewInput',
  'A reason is needed to reject or modify, to keep a line with a red hint, and for more than 20 lines at once',
  {
    decision: v.picklist(DECISIONS),
    item_ids: maybe(listOf(v.string(), MAX_IDS)),
    filter: maybe(described(filter, 'All open lines of the caller that it fits; {}: all of them')),
    reason: maybe(v.pipe(v.string(), v.maxLength(MAX_LINE_REASON))),
    change: v.nullish(
      described(v.boolean(), 'Also lines that are decided already; else they are left as they are'),
      false,
    ),
  },
)
export type DecideInput = v.InferOutput<typeof DecideInput>

export const DecideOutput = strictObject('DecideAccessReviewOutput', {
  act_id: nullable(v.string()),
  decided: described(count, 'Lines that were decided by this'),
  results: described(
    v.array(
      v.strictObject({
        item_id: v.string(),
        state: nullable(v.picklist(ITEM_STATES)),
        error: nullable(v.string()),
      }),
    ),
    'Of item_ids, one each; empty for a filter',
  ),
})

export const ReassignItemInput = strictObject('ReassignAccessReviewItemInput', {
  user_ids: v.nullish(ids, []),
  group_ids: v.nullish(ids, []),
  reason: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_LINE_REASON)),
})

const states = described(v.record(v.string(), count), 'Lines by state')

const Population = strictObject('AccessReviewPopulation', {
  run: nullable(described(count, 'The complete sync that it is of; null for an app without one')),
  at: nullable(utcMoment),
  connector: nullable(v.string()),
  connector_version: nullable(v.string()),
  connector_digest: nullable(v.string()),
  synced: described(count, 'What the sync told: synced = items + excluded + left_out'),
  items: count,
  excluded: described(v.record(v.string(), count), 'By the group of filters that left it out'),
  left_out: described(count, 'Without an account or an entitlement that is known'),
})

export const AccessReviewProgress = strictObject('AccessReviewProgress', {
  states,
  bulk_share: nullable(
    described(count, 'Of decided lines, those decided in acts over more than 20'),
  ),
  median_seconds: nullable(described(count, 'Between one act of a reviewer and the next')),
  apps: v.array(
    v.strictObject({
      arda_id: v.string(),
      app_id: v.string(),
      app_name: v.string(),
      status: v.picklist(REVIEW_APP_STATUSES),
      problem: nullable(described(v.string(), 'Why it does not go on, and what to do')),
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
