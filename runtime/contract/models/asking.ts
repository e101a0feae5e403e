/** What people see before they ask for access, and before they decide on it. */
import * as v from 'valibot'
import { described, nullable, strictObject } from '../schema/schemas.ts'
import { Access } from './access.ts'
import { AccessLength } from './access-length.ts'
import { FINDING_KINDS } from './finding.ts'
import { User } from './person.ts'
import { SeparationConflict } from './separation.ts'
import { TaskAssignee } from './task.ts'

const count = (description: string) => described(v.number(), description)

/** Most people and groups that are named of one step. */
export const MAX_DECIDERS_NAMED = 10

/** Most findings that are named to who decides. */
export const MAX_GROUND_FINDINGS = 10

/** Most apps and permissions whose outlooks are read at once. */
export const MAX_OUTLOOKS = 50

export const DecisionStep = strictObject('DecisionStep', {
  kind: described(
    v.picklist(['manager', 'approvers']),
    '`manager`: the manager of who is to have it decides',
  ),
  deciders: described(
    v.array(TaskAssignee),
    `Who is asked as things are now, at most ${MAX_DECIDERS_NAMED}; one of them decides`,
  ),
  count: count('How many people and groups are asked'),
})
export type DecisionStep = v.InferInput<typeof DecisionStep>

export const RequestOutlook = strictObject(
  'RequestOutlook',
  'What would happen if a user asked now: who decides, how long it usually takes',
  {
    app_id: v.string(),
    requestable_permission_id: nullable(v.string()),
    steps: described(
      v.array(DecisionStep),
      'The decisions that it needs, one after the other; a pre-approval rule may spare them',
    ),
    access_lengths: described(v.array(AccessLength), 'Lengths to choose from'),
    default_access_length: nullable(AccessLength),
    preapproved_access_lengths: described(
      v.array(AccessLength),
      'Of those, the lengths for which a pre-approval rule asks nobody; rules that webhooks decide are not among them',
    ),
    given_by_hand: described(v.boolean(), 'Whether a person gives it, and takes it back, by hand'),
    median_decision_seconds: nullable(
      count('Of the requests for the app that people decided in the last 90 days'),
    ),
    separation_of_duties: described(
      v.array(SeparationConflict),
      'Rules that it would break, and what they do about it',
    ),
    decided_requests: count('How many those were; the newest 1000 count'),
  },
)
export type RequestOutlook = v.InferInput<typeof RequestOutlook>

const moment = (description: string) => described(v.string(), `${description}; ISO 8601, UTC`)

export const TaskGrounds = strictObject(
  'TaskGrounds',
  'Facts for who decides: what is asked, what the person holds, who else holds it',
  {
    task_id: v.string(),
    app_name: nullable(v.string()),
    permission_label: nullable(described(v.string(), 'Null for the app itself')),
    requester_user: nullable(described(User, 'Null where a policy asked')),
    target_user: nullable(User),
    manager_user: nullable(described(User, 'The manager of who is to have it')),
    business_justification: nullable(v.string()),
    expiration_in_seconds: nullable(described(v.number(), 'How long; null for good')),
    asked_at: nullable(moment('When it was asked for')),
    decide_until: nullable(moment('When the request ends if nobody has decided')),
    holds: described(v.array(Access), 'What the person holds in the app now, and why; at most 50'),
    held_now: nullable(
      described(
        v.strictObject({ until: nullable(moment('When the last of it ends; null for no end')) }),
        'What the person has of the same by other requests now; null for nothing. The request extends it',
      ),
    ),
    held_before: described(
      v.array(
        v.strictObject({
          since: moment('When it was given'),
          until: moment('When it ended'),
          end_reason: nullable(
            described(v.string(), 'Why it was taken back; null where its time was over'),
          ),
          revoked_by_user_id: nullable(described(v.string(), 'Who revoked it')),
        }),
      ),
      'When the person held the same before, newest first; at most 5',
    ),
    colleagues: described(
      v.strictObject({
        count: count('Others with the same manager; 1000 at most'),
        holding: count('How many of those hold the same'),
      }),
      'None where the person has no manager',
    ),
    findings: described(
      v.array(
        v.strictObject({
          id: v.string(),
          kind: v.picklist(FINDING_KINDS),
          label: nullable(described(v.string(), 'The entitlement, as the app calls it')),
          opened_at: moment('Since when it is open'),
        }),
      ),
      `Open findings about what the person holds in the app, newest first; at most ${MAX_GROUND_FINDINGS}`,
    ),
    separation_of_duties: described(
      v.array(SeparationConflict),
      'Rules that it breaks; with EXCEPTION the last decision is on the exception',
    ),
  },
)
export type TaskGrounds = v.InferInput<typeof TaskGrounds>
