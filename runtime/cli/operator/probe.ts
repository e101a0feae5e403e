/** `keyway probe`: credentials that new versions of a connector are tried with. */
import { ConfigError } from '../../config.ts'
import { ask, connectorPath, print, type ReadFlags } from './change.ts'
import { envelopeOf } from './envelope.ts'

export async function probe(
  id: string,
  flags: ReadFlags & { as?: string; forget?: true },
): Promise<void> {
  const path = connectorPath(id, 'probe')
  if (!flags.forget && flags.as === undefined)
    throw new ConfigError('say by --as <file> which credentials, or --forget')
  const answer = flags.forget
    ? await ask<{ probe: boolean }>(flags, { method: 'DELETE', path })
    : await ask<{ probe: boolean }>(flags, {
        method: 'PUT',
        path,
        body: await envelopeOf(flags.as as string),
      })
  print(flags, answer, ({ probe: kept }) =>
    kept
      ? `New versions of ${id} are tried with these credentials.`
      : `New versions of ${id} are only loaded before calls go to them.`,
  )
}
