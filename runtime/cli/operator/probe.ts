/** `keyway probe`: stores credentials with which new versions of a connector are tested. */
import type { ReadFlags } from '../terminal/options.ts'
import { ask, connectorPath, print } from './change.ts'
import { envelopeFor, interfaceOf, requireCapability, send } from './interface.ts'

type ProbeFlags = ReadFlags & { as?: string; forget?: true; dryRun?: true }

export async function probe(id: string, flags: ProbeFlags): Promise<void> {
  const path = connectorPath(id, 'probe')
  if (flags.forget) {
    if (flags.dryRun) {
      const { probe: kept } = await ask<{ probe: boolean }>(flags, connectorPath(id))
      print(flags, { probe: kept }, () =>
        kept ? `Those of ${id} would be removed.` : `None are stored for ${id}.`,
      )
      return
    }
    print(flags, await ask(flags, path, { method: 'DELETE' }), () => FORGOTTEN(id))
    return
  }
  const to = await interfaceOf(flags)
  const body = await envelopeFor(id, flags, to)
  if (flags.dryRun) await requireCapability(to, id, 'validate_credentials')
  if (flags.dryRun) {
    const answer = await send(to, id, 'validate_credentials', { request: {}, ...body })
    const { error } = answer
    if (answer.is_error) process.exitCode = 1
    print(flags, answer, () =>
      error
        ? `They do not work with the active version: ${error.error_code}: ${error.message}`
        : 'They work with the active version; nothing was stored.',
    )
    return
  }
  print(flags, await ask(flags, path, { method: 'PUT', body }), () => KEPT(id))
}

const KEPT = (id: string) => `New versions of ${id} are tried with these credentials.`
const FORGOTTEN = (id: string) =>
  `New versions of ${id} are only loaded before calls go to them: no credentials are stored.`
