/** Access reviews as in the public service: core-interface.md sections 1.12, 2.1 and 2.2. */
import * as v from 'valibot'
import {
  anyObject,
  described,
  keptNull,
  maybe,
  nullable,
  object,
  strictObject,
  utcMoment,
} from '../schema/schemas.ts'
import { listOf } from './reference.ts'
import { MAX_FILTERS, ScopeFilter, sentMoment } from './review-scope.ts'

/** Sort orders for lists of reviews. */
export const REVIEW_SORTS = [
  'created',
  '-created',
  'name',
  '-name',
  'deadline',
  '-deadline',
] as const

export const REVIEW_STATUSES = [
  'SCHEDULED',
  'SCHEDULED_IN_PREPARATION',
  'IN_PREPARATION',
  'IN_PROGRESS',
  'COMPLETED',
  'DELETED',
  'DUPLICATING',
  'DUPLICATING_WAITING_FOR_CONFIRMATION',
] as const
export type ReviewStatus = (typeof REVIEW_STATUSES)[number]

export const REVIEW_APP_STATUSES = [
  'IN_PREPARATION',
  'ASSIGNING_REVIEWERS',
  'IN_PROGRESS',
  'COMPLETED',
  'WAITING_FOR_MANUAL_ACTION',
  'DELETED',
] as const
export type ReviewAppStatus = (typeof REVIEW_APP_STATUSES)[number]

export const CREATION_PATHS = ['UI', 'RECURRENCE', 'API', 'CLI', 'MCP'] as const
export const REVIEW_TYPES = ['ACCOUNTS', 'ENTITLEMENTS'] as const
export const REMOVAL_ACTIONS = [
  'DEPROVISION',
  'SUSPEND',
  'DEACTIVATE',
  'MANUAL',
  'WEBHOOK',
] as const
export const EVIDENCE_UPLOADS = ['ALWAYS', 'DEFAULT'] as const

/** Maximum number of apps of a review. */
const MAX_REVIEW_APPS = 200

/** Maximum length of a review's name, in characters. */
export const MAX_REVIEW_NAME = 255
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_REVIEW_NAME))

const filters = listOf(ScopeFilter, MAX_FILTERS)

const numbers = v.nullish(listOf(v.pipe(v.number(), v.integer()), 366))
const whole = v.nullish(v.pipe(v.number(), v.integer()))
const Weekday = v.union([
  v.pipe(v.number(), v.integer()),
  strictObject('PositionalWeekday', 'The n-th such weekday of a month', {
    weekday: v.pipe(v.number(), v.integer()),
    n: v.pipe(v.number(), v.integer()),
  }),
])

const recurrence = {
  freq: v.pipe(v.number(), v.integer()),
  interval: whole,
  count: whole,
  until: v.nullish(v.string()),
  byweekday: v.nullish(listOf(Weekday, 366)),
  bymonth: numbers,
  bymonthday: numbers,
  byyearday: numbers,
  byweekno: numbers,
  bysetpos: numbers,
  byhour: numbers,
  byminute: numbers,
  bysecond: numbers,
  wkst: whole,
  tzid: v.nullish(
    v.pipe(
      v.string(),
      v.maxLength(64),
      v.metadata({
        description: 'Time zone of days and times of day, such as Europe/Berlin; absent: UTC',
      }),
    ),
  ),
}

const RecurrenceConfigInput = object(
  'RecurrenceConfigInput',
  'A recurrence rule of RFC 5545 in numbers: `freq` 0 yearly, 1 monthly, 2 weekly, 3 daily; weekdays from 0, Monday',
  recurrence,
)
export type RecurrenceConfig = v.InferOutput<typeof RecurrenceConfigInput>

export const AccessReviewDomainAppInput = strictObject('AccessReviewDomainAppInput', {
  id: described(v.string(), 'The app'),
  review_type: v.nullish(v.picklist(REVIEW_TYPES), 'ENTITLEMENTS'),
  scope_filters: maybe(filters),
})
export type AccessReviewDomainAppInput = v.InferOutput<typeof AccessReviewDomainAppInput>

export const CreateAccessReviewInput = strictObject('CreateAccessReviewInput', {
  name,
  deadline_at: sentMoment('Deadline of the decisions'),
  owner_id: maybe(v.string()),
  target_launch_date: maybe(sentMoment('Start of the review; absent: now')),
  recurrence_config: maybe(RecurrenceConfigInput),
  recurrence_days_frequency: maybe(v.pipe(v.number(), v.integer())),
  apps: v.nullish(listOf(AccessReviewDomainAppInput, MAX_REVIEW_APPS), []),
})
export type CreateAccessReviewInput = v.InferOutput<typeof CreateAccessReviewInput>

export const AddAppsInput = strictObject('AddAppsInput', {
  apps: listOf(AccessReviewDomainAppInput, MAX_REVIEW_APPS),
})

const UpdateAccessReviewArdaInput = strictObject('UpdateAccessReviewArdaInput', {
  id: described(v.string(), 'Id of the app within the review'),
  scope_filters: keptNull(filters),
  removal_action: maybe(v.picklist(REMOVAL_ACTIONS)),
  configurable_evidence_upload: maybe(v.picklist(EVIDENCE_UPLOADS)),
})

export const UpdateAccessReviewInput = strictObject('UpdateAccessReviewInput', {
  name: maybe(name),
  deadline_at: maybe(sentMoment('Deadline of the decisions')),
  owner_id: maybe(v.string()),
  target_launch_date: maybe(sentMoment('Start of the review')),
  recurrence_config: keptNull(RecurrenceConfigInput),
  recurrence_days_frequency: keptNull(v.pipe(v.number(), v.integer())),
  apps: v.nullish(listOf(UpdateAccessReviewArdaInput, MAX_REVIEW_APPS), []),
})
export type UpdateAccessReviewInput = v.InferOutput<typeof UpdateAccessReviewInput>

const AccessReviewDomainAppErrorOutput = strictObject('AccessReviewDomainAppErrorOutput', {
  app_id: v.string(),
  error: v.string(),
})
export type ReviewAppError = v.InferInput<typeof AccessReviewDomainAppErrorOutput>

export const AccessReviewDomainAppOutput = strictObject('AccessReviewDomainAppOutput', {
  id: v.string(),
  domain_app_id: v.string(),
  domain_app_name: v.string(),
  domain_app_sources: v.array(v.string()),
  status: v.picklist(REVIEW_APP_STATUSES),
  review_type: nullable(v.picklist(REVIEW_TYPES)),
  app_last_synced_at: nullable(utcMoment),
  last_synced_at: nullable(utcMoment),
  account_count: nullable(v.number()),
  launched_at: nullable(utcMoment),
  completed_at: nullable(utcMoment),
  scope_filters: nullable(v.array(anyObject())),
})
export type AccessReviewDomainAppOutput = v.InferInput<typeof AccessReviewDomainAppOutput>

export const AccessReviewOutput = strictObject(
  'AccessReviewOutput',
  'A review of the access that people have',
  {
    id: v.string(),
    name: v.string(),
    status: v.picklist(REVIEW_STATUSES),
    creation_path: v.picklist(CREATION_PATHS),
    owner_id: nullable(v.string()),
    created_by_id: nullable(v.string()),
    deadline_at: nullable(utcMoment),
    started_at: nullable(utcMoment),
    completed_at: nullable(utcMoment),
    target_launch_date: nullable(utcMoment),
    recurrence_config: nullable(object('RecurrenceConfig', recurrence)),
    recurrence_days_frequency: nullable(v.number()),
    created_at: nullable(utcMoment),
    updated_at: nullable(utcMoment),
    apps: v.array(AccessReviewDomainAppOutput),
  },
)
export type AccessReviewOutput = v.InferInput<typeof AccessReviewOutput>

const errors = nullable(v.array(AccessReviewDomainAppErrorOutput))

export const CreateAccessReviewOutput = strictObject('CreateAccessReviewOutput', {
  access_review: AccessReviewOutput,
  errors,
})

export const AddAppsOutput = strictObject('AddAppsOutput', {
  added_apps: v.array(AccessReviewDomainAppOutput),
  errors,
})
