/** Information shown before a person requests access, and before a person decides on it. */
import * as v from 'valibot'
import { described, nullable, strictObject } from '../schema/schemas.ts'
import { Access } from './access.ts'
import { AccessLength } from './access-length.ts'
import { FINDING_KINDS } from './finding.ts'
import { User } from './person.ts'
import { SeparationConflict } from './separation.ts'
import { TaskAssignee } from './task.ts'

const count = (description: string) => described(v.number(), description)

/** Maximum number of people and groups listed for one step. */
export const MAX_DECIDERS_NAMED = 10

/** Maximum number of findings listed for a decision. */
export const MAX_GROUND_FINDINGS = 10

/** Maximum number of apps and permissions whose outlooks are read at once. */
export const MAX_OUTLOOKS = 50

export const DecisionStep = strictObject('DecisionStep', {
  kind: described(
    v.picklist(['manager', 'approvers']),
    '`manager`: the manager of the target user decides',
  ),
  deciders: described(
    v.array(TaskAssignee),
    `Current approvers, at most ${MAX_DECIDERS_NAMED}; one of them decides`,
  ),
  count: count('Number of people and groups who are asked'),
})
export type DecisionStep = v.InferInput<typeof DecisionStep>

export const RequestOutlook = strictObject(
  'RequestOutlook',
  'Preview of a request made now: the approvers, and how long decisions usually take',
  {
    app_id: v.string(),
    requestable_permission_id: nullable(v.string()),
    steps: described(
      v.array(DecisionStep),
      'Required decisions, in order; a pre-approval rule may skip them',
    ),
    access_lengths: described(v.array(AccessLength), 'Durations to choose from'),
    default_access_length: nullable(AccessLength),
    preapproved_access_lengths: described(
      v.array(AccessLength),
      'The lengths that a pre-approval rule grants without approval; rules decided by webhooks are not considered',
    ),
    given_by_hand: described(v.boolean(), 'Whether a person grants and removes it manually'),
    median_decision_seconds: nullable(
      count('Median over the requests for the app that people decided in the last 90 days'),
    ),
    separation_of_duties: described(
      v.array(SeparationConflict),
      'Rules that it would break, and their effect',
    ),
    decided_requests: count('Number of those requests; only the newest 1000 count'),
  },
)
export type RequestOutlook = v.InferInput<typeof RequestOutlook>

const moment = (description: string) => described(v.string(), `${description}; ISO 8601, UTC`)

export const TaskGrounds = strictObject(
  'TaskGrounds',
  'Facts for a decision: the request, the access that the person holds, and other holders',
  {
    task_id: v.string(),
    app_name: nullable(v.string()),
    permission_label: nullable(described(v.string(), 'Null for the app itself')),
    requester_user: nullable(described(User, 'Null if a policy made the request')),
    target_user: nullable(User),
    manager_user: nullable(described(User, 'The manager of the target user')),
    business_justification: nullable(v.string()),
    expiration_in_seconds: nullable(described(v.number(), 'Duration; null for unlimited')),
    asked_at: nullable(moment('Time of the request')),
    decide_until: nullable(moment('Time at which the request expires if it is not decided')),
    holds: described(
      v.array(Access),
      'Access that the person holds in the app now, with its reasons; at most 50',
    ),
    held_now: nullable(
      described(
        v.strictObject({ until: nullable(moment('End of the last such access; null for no end')) }),
        'The same access, if the person holds it now by other requests, which this request extends; else null',
      ),
    ),
    held_before: described(
      v.array(
        v.strictObject({
          since: moment('Start'),
          until: moment('End'),
          end_reason: nullable(described(v.string(), 'Why it was removed; null if it expired')),
          revoked_by_user_id: nullable(described(v.string(), 'User who revoked it')),
        }),
      ),
      'Earlier periods in which the person held the same access, newest first; at most 5',
    ),
    colleagues: described(
      v.strictObject({
        count: count('Number of other people with the same manager; at most 1000'),
        holding: count('Number of those who hold the same access'),
      }),
      '0 if the person has no manager',
    ),
    findings: described(
      v.array(
        v.strictObject({
          id: v.string(),
          kind: v.picklist(FINDING_KINDS),
          label: nullable(described(v.string(), 'The entitlement, as the app calls it')),
          opened_at: moment('Time at which it was opened'),
        }),
      ),
      `Open findings about access of the person in the app, newest first; at most ${MAX_GROUND_FINDINGS}`,
    ),
    separation_of_duties: described(
      v.array(SeparationConflict),
      'Rules that it breaks; with EXCEPTION the last decision is about the exception',
    ),
  },
)
export type TaskGrounds = v.InferInput<typeof TaskGrounds>
