/**
 * Checks names against the host: an empty list does not distinguish a wrong name from one without entries.
 */
import { ConfigError } from '../../config/config.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { visible } from '../../observe/visible.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { unknownName } from '../terminal/unknown-name.ts'
import { ask } from './change.ts'
import { RefusedError } from './client.ts'

type Row = { id: string | null }

/** @throws RefusedError if the host has no connector with this id */
export async function requireConnector(flags: ReadFlags, id: string): Promise<void> {
  const path = '/operator/connectors'
  const { items } = await ask<{ items: Row[] }>(flags, path)
  if (items.some((one) => one.id !== null && normalizeId(one.id) === normalizeId(id))) return
  throw new RefusedError(unknownName('connector', `There is no connector ${quoted(id)}`), {})
}

/** @throws RefusedError if the host has no app with this id */
export async function requireApp(flags: ReadFlags, id: string): Promise<void> {
  await ask(flags, `/operator/apps/${encodeURIComponent(id)}/sync`)
}

type Person = { id: string; email: string; status: string }

/**
 * Returns the person with an email address.
 *
 * @throws ConfigError if the host has none
 */
export async function findPerson(flags: ReadFlags, email: string): Promise<Person> {
  const path = `/users?exact_match=true&search_term=${encodeURIComponent(email)}`
  const { items } = await ask<{ items: Person[] }>(flags, path)
  const found = items.find((one) => one.email.toLowerCase() === email.toLowerCase())
  if (found) return found
  throw new ConfigError(unknownName('user', `There is no person ${visible(email)}`))
}

const quoted = (id: string): string => JSON.stringify(id.slice(0, 64))
