/** Access requests change state only along REQUEST_STATES. */
import { describe, expect, it } from 'vitest'
import { REQUEST_STATUSES } from '../../../runtime/contract/models/access-request.ts'
import { mayBecome } from '../../../runtime/core/machine/states.ts'
import { REQUEST_STATES, standingOf } from '../../../runtime/core/requests/machine/states.ts'
import { move } from '../../../runtime/core/requests/move.ts'

describe.each(REQUEST_STATUSES)('a request that is %s', (from) => {
  const forbidden = REQUEST_STATUSES.filter((to) => !mayBecome(REQUEST_STATES, from, to))

  it('cannot enter a state that the table does not name', async () => {
    // The refusal precedes any database access, so none is needed.
    for (const to of forbidden)
      await expect(move({} as never, { status: from } as never, to)).rejects.toThrow(
        `an access request that is ${from} cannot become ${to}`,
      )
  })

  it('has a next state unless it is over', () => {
    expect(REQUEST_STATES[from].next.length > 0).toBe(standingOf(from) !== 'over')
  })

  it('can be reached from PENDING', () => {
    const seen = new Set<string>(['PENDING'])
    for (const one of seen) for (const to of REQUEST_STATES[one as typeof from].next) seen.add(to)
    expect(seen).toContain(from)
  })
})
