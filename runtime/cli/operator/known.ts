/** Checks of names that a host takes as filters: an empty list does not tell a wrong name from a quiet one. */
import { normalizeId } from '../../contract/connector/manifest.ts'
import { unknownName } from '../terminal/not-there.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask } from './change.ts'
import { RefusedError } from './client.ts'

type Row = { id: string | null }

/** @throws RefusedError if the host has no connector with this id */
export async function demandConnector(flags: ReadFlags, id: string): Promise<void> {
  const path = '/operator/connectors'
  const { items } = await ask<{ items: Row[] }>(flags, path)
  if (items.some((one) => one.id !== null && normalizeId(one.id) === normalizeId(id))) return
  throw new RefusedError(unknownName('connector', `There is no connector ${quoted(id)}`), {})
}

/** @throws RefusedError if the host has no app with this id */
export async function demandApp(flags: ReadFlags, id: string): Promise<void> {
  await ask(flags, `/operator/apps/${encodeURIComponent(id)}/sync`)
}

const quoted = (id: string): string => JSON.stringify(id.slice(0, 64))
