/** POLICY_CHANGES: what is changed of policies, one row each. */
import { deletePolicy, getPolicy } from '../../core/policies/policies.ts'
import type { About, Change } from './change.ts'
import { POLICY_WORDS as WORDS } from './words/reviews.ts'

const idOf = ({ params }: About): string => params['access_policy_id'] ?? ''

export const POLICY_CHANGES = {
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
