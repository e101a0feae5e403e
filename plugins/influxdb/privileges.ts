/** Reads the privileges on databases, for one user or many users at once. */
import { ConnectorError, ifThere } from 'keyway/sdk'
import { PRIVILEGE_NAMES, type Privilege } from './entitlements.ts'
import { identifier } from './influxql.ts'
import { type Ctx, type Result, readAll, rowsOf, textIn } from './service.ts'

/** Privileges of a user on one database. */
export type Held = { database: string; privileges: readonly Privilege[] }

/** Maximum number of users per request, and the maximum length of their statements, in encoded characters. */
const MAX_USERS = 50
const MAX_CHARACTERS = 2_000

const showGrants = (name: string): string => `SHOW GRANTS FOR ${identifier(name)}`

/**
 * Returns the privileges of one user.
 *
 * @throws `not_found` if the user is unknown
 */
export async function readGrants(ctx: Ctx, name: string): Promise<Held[]> {
  const [result = {}] = await readAll(ctx, [showGrants(name)])
  return heldIn(result)
}

/**
 * Returns the privileges of many users, by name, and reads many users per request. A user who was dropped in
 * the meantime is left out.
 */
export async function readGrantsOfAll(
  ctx: Ctx,
  names: readonly string[],
): Promise<Map<string, Held[]>> {
  const held = new Map<string, Held[]>()
  for (let rest = names; rest.length > 0; ) {
    const asked = rest.slice(0, fittingCount(rest))
    const results = await readAll(ctx, asked.map(showGrants))
    const failed = results.findIndex(({ error }) => error !== undefined)
    if (failed === -1 && results.length !== asked.length)
      throw new ConnectorError('invalid_response', 'A statement has no result')
    const good = failed === -1 ? asked : asked.slice(0, failed)
    for (const [index, name] of good.entries()) held.set(name, heldIn(results[index] ?? {}))
    rest = rest.slice(good.length)
    const [unclear] = failed === -1 ? [] : rest
    if (unclear === undefined) continue
    // In a batch, InfluxDB may only report "not executed". Ask for this user alone to learn the reason.
    const alone = await ifThere(readGrants(ctx, unclear))
    if (alone !== null) held.set(unclear, alone)
    rest = rest.slice(1)
  }
  return held
}

/** Returns the number of users that fit into one request, at least one. */
function fittingCount(names: readonly string[]): number {
  let count = 0
  let characters = 0
  for (const name of names.slice(0, MAX_USERS)) {
    characters += encodeURIComponent(showGrants(name)).length
    if (count > 0 && characters > MAX_CHARACTERS) break
    count += 1
  }
  return count
}

/** Returns the privileges in a result. InfluxDB keeps a row for revoked privileges, which is skipped. */
const heldIn = (result: Result): Held[] =>
  rowsOf(result).flatMap((row) => {
    const privileges = privilegesIn(textIn(row, 1))
    return privileges.length === 0 ? [] : [{ database: textIn(row, 0), privileges }]
  })

function privilegesIn(words: string): readonly Privilege[] {
  if (words === 'ALL PRIVILEGES') return PRIVILEGE_NAMES
  if (words === 'NO PRIVILEGES') return []
  const one = PRIVILEGE_NAMES.find((name) => name === words)
  if (one === undefined)
    throw new ConnectorError('unknown_value', `InfluxDB tells an unknown privilege: ${words}`)
  return [one]
}
