/** POLICY_CHANGES: what is changed of policies, one row each. */
import * as v from 'valibot'
import { CoreError } from '../../contract/errors/problem.ts'
import { AccessPolicyInput } from '../../contract/models/access-policy.ts'
import { deletePolicy, getPolicy, putPolicy } from '../../core/policies/policies.ts'
import { previewPolicy } from '../../core/policies/preview.ts'
import { counted } from '../frame/words.ts'
import type { About, Change } from './change.ts'
import { bodyOf, draftOf } from './policy-form.ts'
import type { ConsoleVisit } from './visit.ts'
import { POLICY_EDIT_WORDS as EDIT, POLICY_WORDS as WORDS } from './words/policies.ts'

const idOf = ({ params }: About): string => params['access_policy_id'] ?? ''

/** Puts a policy in force, or switches it off, as it is. */
const turning = (
  verb: 'enable' | 'disable',
): Pick<
  Change,
  'path' | 'place' | 'who' | 'does' | 'reason' | 'back' | 'preview' | 'act' | 'button'
> => {
  const changed = async ({ db, principal }: ConsoleVisit, about: About) => {
    const one = await getPolicy(db, principal, idOf(about))
    if (!one) throw new CoreError(404, 'There is no such policy')
    const draft = draftOf(one)
    const whole = {
      ...bodyOf({ ...draft, state: verb === 'enable' ? 'in_force' : 'off' }),
      // As it was read: a condition that is nested has no rows.
      ...(one.is_everyone_condition ? {} : { access_condition: one.access_condition }),
    }
    return v.parse(AccessPolicyInput, whole)
  }
  return {
    path: `/console/policies/:access_policy_id/${verb}`,
    ...{ place: 'policies', who: 'policies.write', reason: 'none', does: `${verb}s a policy` },
    button: EDIT[verb],
    back: (about) => `/console/policies/${idOf(about)}`,
    async preview(visit, about) {
      const { db, principal } = visit
      const body = await changed(visit, about)
      const { added, removed } = await previewPolicy(db, principal, body, idOf(about))
      return {
        lines:
          verb === 'enable'
            ? [EDIT.added(counted(added, 'person', 'people'))]
            : [EDIT.removed(counted(removed, 'person', 'people'))],
      }
    },
    act: async (visit, about) => {
      const { db, principal, context } = visit
      await putPolicy(db, principal, idOf(about), await changed(visit, about), context)
    },
  }
}

export const POLICY_CHANGES = {
  'enable-policy': { ...turning('enable'), title: () => EDIT.enableTitle, done: EDIT.enableDone },
  'disable-policy': {
    ...turning('disable'),
    title: () => EDIT.disableTitle,
    lead: EDIT.disableLead,
    done: EDIT.disableDone,
    danger: true,
  },
  'delete-policy': {
    path: '/console/policies/:access_policy_id/delete',
    ...{ place: 'policies', who: 'policies.write', reason: 'none', does: 'deletes a policy' },
    title: () => WORDS.removeTitle,
    lead: WORDS.removeLead,
    button: WORDS.remove,
    done: WORDS.removed,
    danger: true,
    back: () => '/console/policies',
    preview: async ({ db, principal }, about) => {
      const one = await getPolicy(db, principal, idOf(about))
      return {
        lines: [
          WORDS.removeLine(one?.name ?? ''),
          ...(one?.apps ?? []).map(({ label }) => WORDS.removeApp(label)),
        ],
      }
    },
    act: ({ db, principal, context }, about) => deletePolicy(db, principal, idOf(about), context),
  },
} as const satisfies Record<string, Change>
