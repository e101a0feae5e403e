/** Grants and revocations by operators. */

import type { Grant, Want } from '../../contract/endpoints/generation.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { uncovered, wantsOf } from '../registry/requested-grant.ts'
import { connectorOf, granted, revoked } from './desired-state.ts'
import { type ChangeOutcome, commit } from './generations.ts'
import { type ChangeOptions, type OperateDeps, readable } from './operating.ts'

/** Returns the wants that match a selection, as grants. */
export function chosen(
  { email }: OperateDeps,
  wants: readonly Want[],
  selection: 'all' | readonly string[],
  reason: string,
): Grant[] {
  const at = new Date().toISOString()
  return wants
    .filter((one) => isSelected(one, selection))
    .map((one) => ({ ...one, granted_at: at, granted_by: email, reason }))
}

/** Matches a selection: `kind`, `kind subject`, or the text of one want. */
const isSelected = (want: Want, selection: 'all' | readonly string[]): boolean =>
  selection === 'all' ||
  selection.some((text) =>
    [want.kind, `${want.kind} ${want.subject}`, `${want.kind} ${want.words}`].includes(text),
  )

/** Grants wants. @throws CoreError `not_found` if no version wants that */
export async function grant(
  deps: OperateDeps,
  id: string,
  { wants: selection, ...change }: ChangeOptions & { wants: 'all' | string[] },
): Promise<ChangeOutcome> {
  const { db, actor } = deps
  return commit(db, actor, { ...change, action: 'grant' }, async (now) => {
    const { versions, grants } = connectorOf(now, id)
    const kept = await Promise.all(versions.map((one) => readable(deps, one.digest)))
    const wants = kept.flatMap((one) => (one ? wantsOf(one) : []))
    checkSelection(id, wants, selection)
    return granted(now, id, chosen(deps, uncovered(wants, grants), selection, change.reason))
  })
}

/** Revokes grants. @throws CoreError `not_found` if nothing matching is granted */
export async function revoke(
  { db, actor }: OperateDeps,
  id: string,
  { wants: selection, ...change }: ChangeOptions & { wants: 'all' | string[] },
): Promise<ChangeOutcome> {
  return commit(db, actor, { ...change, action: 'revoke' }, (now) => {
    checkSelection(id, connectorOf(now, id).grants, selection)
    return revoked(now, id, (one) => isSelected(one, selection))
  })
}

/** Rejects a selection that matches nothing, which is a typo. */
function checkSelection(
  id: string,
  wants: readonly Want[],
  selection: 'all' | readonly string[],
): void {
  if (selection === 'all') return
  for (const text of selection) {
    if (wants.some((one) => isSelected(one, [text]))) continue
    const known = [...new Set(wants.map(({ kind, subject }) => `${kind} ${subject}`))]
    throw new CoreError(
      'not_found',
      `${id}: nothing there is called ${JSON.stringify(text.slice(0, 200))}; there are ${known.slice(0, 50).join(', ')}`,
    )
  }
}
