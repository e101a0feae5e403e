/** Which attacks of the corpus a soak is hostile with: those that need nothing but a call. */
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

/** Whatever an attack does, it may be stopped by the sandbox, by its deadline, or be kept waiting. */
const ALWAYS = ['service_error', 'request_timeout', 'rate_limit']

/** One call of one attack; the calls of a run go through all of them in turn. */
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

/** What an attack wants to know of its tenant. */
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
