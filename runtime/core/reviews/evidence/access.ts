/** What evidence of a person's access at a moment says. */
import type { Db } from '../../../database/database.ts'
import { listUserAccess } from '../../catalogue/apps/access.ts'
import type { Principal } from '../../kernel/identity/principal.ts'
import { type EvidenceLine, evidenceLine } from './content.ts'
import { FORM } from './form.ts'
import { chainLine } from './log-lines.ts'

/** Rows that are read at once. */
const SIZE = 100

type Held = { id: string; email: string; givenName: string; familyName: string; status: string }

/** All lines but the page and the seal, in their order. @throws CoreError forbidden */
export async function* accessLines(
  tx: Db,
  principal: Principal,
  { id, email, givenName, familyName, status }: Held,
  at: Date,
  takenAt: Date,
): AsyncGenerator<EvidenceLine> {
  const pageOf = (page: number) =>
    listUserAccess(tx, principal, id, { as_of: at, page, size: SIZE })
  const first = await pageOf(1)
  yield evidenceLine('access', {
    ...{ form: FORM, taken_at: takenAt.toISOString(), final: true, domain_id: principal.domainId },
    access: { id, name: email, status, as_of: at.toISOString(), held: first.total },
    person: { id, email, name: `${givenName} ${familyName}`.trim() },
  })
  yield evidenceLine('chain', await chainLine(tx, principal))
  for (let page = 1; page <= Math.max(1, first.pages); page += 1) {
    const { items } = page === 1 ? first : await pageOf(page)
    for (const one of items) yield evidenceLine('held', one)
  }
}
