/** The privileges that users hold on databases: reading them, for one user or many at once. */
import { ConnectorError, ifThere } from 'keyway/sdk'
import { PRIVILEGE_NAMES, type Privilege } from './entitlements.ts'
import { identifier } from './influxql.ts'
import { type Ctx, type Result, readAll, rowsOf, textIn } from './service.ts'

/** What a user holds on one database. */
export type Held = { database: string; privileges: readonly Privilege[] }

/** Most users whose grants one request asks for, and the characters that their statements may have. */
const MOST_USERS = 50
const MOST_CHARACTERS = 2_000

const showGrants = (name: string): string => `SHOW GRANTS FOR ${identifier(name)}`

/** @throws not_found for an unknown user */
export async function readGrants(ctx: Ctx, name: string): Promise<Held[]> {
  const [result = {}] = await readAll(ctx, [showGrants(name)])
  return heldIn(result)
}

/** What many users hold, by name, many in one request. A user who is gone meanwhile is left out. */
export async function readGrantsOfAll(
  ctx: Ctx,
  names: readonly string[],
): Promise<Map<string, Held[]>> {
  const held = new Map<string, Held[]>()
  for (let rest = names; rest.length > 0; ) {
    const asked = rest.slice(0, fitting(rest))
    const results = await readAll(ctx, asked.map(showGrants))
    const failed = results.findIndex(({ error }) => error !== undefined)
    if (failed === -1 && results.length !== asked.length)
      throw new ConnectorError('invalid_response', 'A statement has no result')
    const good = failed === -1 ? asked : asked.slice(0, failed)
    for (const [index, name] of good.entries()) held.set(name, heldIn(results[index] ?? {}))
    rest = rest.slice(good.length)
    const [unclear] = failed === -1 ? [] : rest
    if (unclear === undefined) continue
    // Among others InfluxDB only says "not executed"; alone, it says why.
    const alone = await ifThere(readGrants(ctx, unclear))
    if (alone !== null) held.set(unclear, alone)
    rest = rest.slice(1)
  }
  return held
}

/** How many of these users fit into one request: one at least. */
function fitting(names: readonly string[]): number {
  let count = 0
  let characters = 0
  for (const name of names.slice(0, MOST_USERS)) {
    characters += encodeURIComponent(showGrants(name)).length
    if (count > 0 && characters > MOST_CHARACTERS) break
    count += 1
  }
  return count
}

/** InfluxDB keeps a record for what was taken again. */
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
