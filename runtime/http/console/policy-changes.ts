/** POLICY_CHANGES: changes of policies, one row each. */
import * as v from 'valibot'
import { CoreError } from '../../contract/errors/problem.ts'
import { AccessPolicyInput } from '../../contract/models/access-policy.ts'
import { deletePolicy, getPolicy, putPolicy } from '../../core/policies/policies.ts'
import { previewPolicy } from '../../core/policies/preview.ts'
import { type About, type ConsoleChange, minus, plus } from './change.ts'
import { draftOf, policyBodyOf } from './policy-form.ts'
import type { ConsoleVisit } from './visit.ts'

const idOf = ({ params }: About): string => params['access_policy_id'] ?? ''

/** Enables or disables a policy without other changes. */
const turning = (verb: 'enable' | 'disable') => {
  const changed = async ({ db, principal }: ConsoleVisit, about: About) => {
    const one = await getPolicy(db, principal, idOf(about))
    if (!one) throw new CoreError('not_found', 'There is no such policy')
    const draft = draftOf(one)
    const whole = {
      ...policyBodyOf({ ...draft, state: verb === 'enable' ? 'in_force' : 'off' }),
      // The condition as read: a nested one has no rows.
      ...(one.is_everyone_condition ? {} : { access_condition: one.access_condition }),
    }
    return v.parse(AccessPolicyInput, whole)
  }
  return {
    path: `/console/policies/:access_policy_id/${verb}`,
    ...{ place: 'policies', who: 'policies.write', reason: 'none', does: `${verb}s a policy` },
    button: (t) => t.console.policy_edit[verb],
    back: (about) => `/console/policies/${idOf(about)}`,
    async preview(visit, about) {
      const { db, principal, t } = visit
      const body = await changed(visit, about)
      const { added, removed } = await previewPolicy(db, principal, body, idOf(about))
      return {
        lines:
          verb === 'enable'
            ? [plus(t.console.policy_edit.added(added))]
            : [minus(t.console.policy_edit.removed(removed))],
      }
    },
    act: async (visit, about) => {
      const { db, principal, context } = visit
      await putPolicy(db, principal, idOf(about), await changed(visit, about), context)
    },
  } satisfies Partial<ConsoleChange>
}

export const POLICY_CHANGES = {
  'enable-policy': {
    ...turning('enable'),
    title: (_, t) => t.console.policy_edit.enableTitle,
    done: (t) => t.console.policy_edit.enableDone,
  },
  'disable-policy': {
    ...turning('disable'),
    title: (_, t) => t.console.policy_edit.disableTitle,
    lead: (t) => t.console.policy_edit.disableLead,
    done: (t) => t.console.policy_edit.disableDone,
    danger: true,
  },
  'delete-policy': {
    path: '/console/policies/:access_policy_id/delete',
    ...{ place: 'policies', who: 'policies.write', reason: 'none', does: 'deletes a policy' },
    title: (_, t) => t.console.policy.removeTitle,
    lead: (t) => t.console.policy.removeLead,
    button: (t) => t.console.policy.remove,
    done: (t) => t.console.policy.removed,
    danger: true,
    back: () => '/console/policies',
    preview: async ({ db, principal, t }, about) => {
      const one = await getPolicy(db, principal, idOf(about))
      return {
        lines: [
          minus(t.console.policy.removeLine(one?.name ?? '')),
          ...(one?.apps ?? []).map(({ label }) => minus(t.console.policy.removeApp(label))),
        ],
      }
    },
    act: ({ db, principal, context }, about) => deletePolicy(db, principal, idOf(about), context),
  },
} as const satisfies Record<string, ConsoleChange>
