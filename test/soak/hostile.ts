/** The attacks of the corpus that a soak runs: those that need nothing but a call. */
import { type Attack, DEADLINE_MS, ESCAPED } from '../../runtime/verify/attacks/attack.ts'
import { tokenOf } from '../../runtime/verify/run-attack.ts'
import { select } from '../../runtime/verify/verify.ts'
import type { Ended } from './kinds.ts'
import type { Hostile, SoakScene } from './scene.ts'

const NAMES = [
  'loop-in-handler',
  'microtask-chain',
  'timer-storm',
  'never-settles',
  'bigint-power',
  'fill-arrays',
  'split-text',
  'buffers',
  'pollution-by-reply',
  'poisoned-built-ins',
  'constructor-chains',
  'module-state',
  'log-flood',
  'kill-every-call',
] as const

export const HOSTILE: readonly Hostile[] = NAMES.map((name) => {
  const [found] = select(undefined, name) ?? []
  if (!found) throw new Error(`there is no attack ${name}`)
  return found
})

const TENANTS = 3

/** Every attack may be stopped by the sandbox or its deadline, or be refused. */
const ALWAYS = ['service_error', 'request_timeout', 'rate_limit']

/** Runs one call of one attack; a run cycles through all of them. */
export async function attackOnce({ client, hostile }: SoakScene, turn: number): Promise<Ended> {
  const { attack } = hostile[turn % hostile.length] as Hostile
  const tenant = turn % TENANTS
  const got = await client.call({
    at: `/connectors/${attack.name}/list_accounts`,
    body: {
      auth: { token: { token: tokenOf(tenant) } },
      settings: settingsOf(attack, tenant),
      request: {},
    },
    deadlineMs: attack.deadlineMs ?? DEADLINE_MS,
  })
  const wrong = wrongOf(attack, got.code ?? 'answer') ?? leakOf(got.text, tenant)
  return { ...got, wrong: wrong && `${attack.name}: ${wrong}` }
}

/** The settings of an attack, for a tenant. */
function settingsOf({ settings = [] }: Attack, tenant: number): Record<string, string> {
  const [first = {}] = settings
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => [name, value.replace('{tenant}', `t${tenant}`)]),
  )
}

function wrongOf({ ends }: Attack, ending: string): string | null {
  const known = [...ends, ...ALWAYS] as readonly string[]
  return known.includes(ending) ? null : `ended with ${ending}`
}

function leakOf(text: string, tenant: number): string | null {
  if (text.includes(ESCAPED)) return `it got out: ${text.slice(0, 500)}`
  const others = Array.from({ length: TENANTS }, (_, other) => other).filter((n) => n !== tenant)
  const shown = others.find((other) => text.includes(tokenOf(other)))
  return shown === undefined ? null : `an answer shows the token of tenant ${shown}`
}
