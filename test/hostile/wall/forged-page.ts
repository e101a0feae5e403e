/**
 * Forges results of `paged`: marks, cursors of a megabyte, cyclic and throwing ones. Promise 1.
 * Must happen: the cursor is refused for its size or because it is not JSON; no forged page is accepted.
 */
import { defineConnector, paged } from 'keyway/sdk'

const cyclic = {}
cyclic.self = cyclic
const CURSORS = ['x'.repeat(1 << 20), cyclic, 1n, { toJSON: () => 'x'.repeat(10_000) }, () => {}]
let turn = 0

export default defineConnector({
  list_accounts() {
    turn += 1
    const cursor = CURSORS[turn % CURSORS.length]
    return turn % 2 === 0
      ? paged([], cursor)
      : { __paged: true, response: [], cursor, ok: true, leftOut: 0, responseBytes: 1 }
  },
  get_account: () => ({ integration_specific_id: 'fine' }),
})
