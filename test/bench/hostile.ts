/** Runs a hostile connector of the corpus, which its tenants call repeatedly. */

import type { Attack, Family } from '../../runtime/verify/attacks/attack.ts'
import { ATTACKS } from '../../runtime/verify/attacks/attacks.ts'
import { createClient } from '../../runtime/verify/client.ts'
import { writeFolder } from '../../runtime/verify/corpus.ts'
import { OPERATOR_TOKEN } from './contenders/keyway.ts'
import { pause } from './run.ts'
import type { Server } from './server.ts'

/** Its callers, each a tenant of its own. */
const CALLERS = 4
/** Pause between an answer and the next call, in milliseconds, because immediate refusals are no attack. */
const PAUSE_MS = 20
const PATIENCE_MS = 10_000

/** An attack of the corpus by its name. */
export function attackOf(family: Family, name: string): Attack {
  const found = ATTACKS[family].find((one) => one.name === name)
  if (!found) throw new Error(`there is no attack ${family}/${name}`)
  return found
}

/** Puts an attack's connector into a plugin directory. */
export async function writeAttack(plugins: string, family: Family, name: string): Promise<void> {
  await writeFolder(family, attackOf(family, name), { plugins, secrets: plugins })
}

export type Hostile = {
  /** Stops sending, waits for running calls, and counts how the calls ended. */
  stop(): Promise<Map<string, number>>
}

/** Clears the connector's standing and calls it until it is stopped. */
export async function startHostile({ url }: Server, connector: string): Promise<Hostile> {
  const client = createClient(url, '/connectors')
  const endings = new Map<string, number>()
  let stopped = false
  await fetch(`${url}/operator/connectors/${connector}/release`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  })

  async function caller(index: number): Promise<void> {
    while (!stopped) {
      const token = `hostile-tenant-${index}`
      const options = { token, patienceMs: PATIENCE_MS }
      const { ending } = await client.call(connector, 'list_accounts', options)
      endings.set(ending, (endings.get(ending) ?? 0) + 1)
      await pause(PAUSE_MS)
    }
  }

  const callers = Array.from({ length: CALLERS }, (_, index) => caller(index))
  return {
    async stop() {
      stopped = true
      await Promise.all(callers)
      client.close()
      return endings
    },
  }
}
