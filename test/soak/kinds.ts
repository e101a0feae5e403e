/** The kinds of calls in a soak: the share of each, and the expected answer. */

import type { Got } from './client.ts'
import { attackOnce } from './hostile.ts'
import { ADMIN_TOKEN, type SoakScene } from './scene.ts'
import { accountOf, tokenOf } from './upstream.ts'

/** The outcome of a call: `wrong` describes a fault, or is null. */
export type Ended = Pick<Got, 'lateMs' | 'tookMs'> & { wrong: string | null }

export type Kind = {
  name: string
  /** Percentage of calls. */
  share: number
  run(scene: SoakScene, tenant: string, turn: number): Promise<Ended>
}

/** The deadline of `steady`, as in its manifest. */
const STEADY_MS = 5000
/** The manifest's default, for calls without a deadline. */
const DEFAULT_MS = 30_000
/** Deadline for answers of the host alone, in milliseconds: it may wait for its database. */
const HOST_MS = 5000

/** Acknowledged grants, each once. */
export const granted: string[] = []
/** The first answer per request: later ones must be the same. */
const known = new Map<string, string>()

export const KINDS: readonly Kind[] = [
  { name: 'list', share: 28, run: list },
  { name: 'get', share: 24, run: (scene, tenant, turn) => get(scene, tenant, `${turn}`) },
  { name: 'write', share: 14, run: write },
  { name: 'large', share: 4, run: large },
  { name: 'slow', share: 5, run: (scene, tenant, turn) => get(scene, tenant, `slow-${turn}`) },
  { name: 'too slow', share: 1, run: tooSlow },
  { name: 'hung up', share: 3, run: hungUp },
  { name: 'built-in', share: 5, run: builtIn },
  { name: 'core', share: 6, run: (scene) => asBefore(scene, '/users/current', ADMIN_TOKEN) },
  { name: 'health', share: 3, run: (scene) => asBefore(scene, '/healthz') },
  { name: 'documents', share: 2, run: documents },
  { name: 'hostile', share: 5, run: (scene, _tenant, turn) => attackOnce(scene, turn) },
]

function steady(
  { client, upstream }: SoakScene,
  tenant: string,
  capability: string,
  request: object,
  more: { page?: object; hangUpMs?: number } = {},
): Promise<Got> {
  const { page = {}, ...how } = more
  return client.call({
    at: `/connectors/steady/${capability}`,
    body: {
      auth: { token: { token: tokenOf(tenant) } },
      settings: { base_url: upstream.url, tenant },
      request,
      page,
    },
    deadlineMs: STEADY_MS,
    ...how,
  })
}

/** The error of an answer, as text. */
const failed = ({ code, body }: Got): string | null =>
  code === null ? null : `${code}: ${body.error?.message ?? ''}`

const differs = (got: unknown, expected: unknown): string | null =>
  got === expected ? null : `answered ${String(got).slice(0, 300)} in place of ${expected}`

type Item = { integration_specific_id: string }
const idsOf = ({ body }: Got): string[] =>
  ((body.response ?? []) as Item[]).map(({ integration_specific_id }) => integration_specific_id)

/** Reads all pages: each account of the tenant must occur once, in order. */
async function list(scene: SoakScene, tenant: string): Promise<Ended> {
  const ids: string[] = []
  let page: object | null = {}
  let lateMs = Number.NEGATIVE_INFINITY
  let tookMs = 0
  let failure: string | null = null
  while (page !== null) {
    const got = await steady(scene, tenant, 'list_accounts', {}, { page })
    ids.push(...idsOf(got))
    lateMs = Math.max(lateMs, got.lateMs)
    tookMs = Math.max(tookMs, got.tookMs)
    failure ??= failed(got)
    // An error repeats the page, so that callers can retry it.
    page = got.code === null && got.body.page ? { token: got.body.page.token } : null
  }
  const all = Array.from({ length: 100 }, (_, n) => `${tenant}-${n}`)
  return { lateMs, tookMs, wrong: failure ?? differs(ids.join(), all.join()) }
}

async function get(scene: SoakScene, tenant: string, id: string): Promise<Ended> {
  const got = await steady(scene, tenant, 'get_account', { account_id: id })
  const { integration_specific_id } = (got.body.response ?? {}) as Partial<Item>
  return { ...got, wrong: failed(got) ?? differs(integration_specific_id, accountOf(tenant, id)) }
}

async function write(scene: SoakScene, tenant: string, turn: number): Promise<Ended> {
  const grant = `grant-${turn}`
  const got = await steady(scene, tenant, 'assign_entitlement', {
    account_integration_specific_id: 'a',
    resource_integration_specific_id: '',
    resource_type: '',
    entitlement_type: 'GROUP',
    entitlement_integration_specific_id: grant,
  })
  if (got.code === null) granted.push(`${tenant}/${grant}`)
  return { ...got, wrong: failed(got) }
}

async function large(scene: SoakScene, tenant: string): Promise<Ended> {
  const got = await steady(scene, tenant, 'list_resources', {})
  const ids = idsOf(got)
  const own = ids.filter((id) => id.startsWith(`${tenant}-`)).length
  return { ...got, wrong: failed(got) ?? differs(`${own} of ${ids.length}`, '3000 of 3000') }
}

/** An upstream that never answers: the call must time out at its deadline. */
async function tooSlow(scene: SoakScene, tenant: string, turn: number): Promise<Ended> {
  const got = await steady(scene, tenant, 'get_account', { account_id: `never-${turn}` })
  return { ...got, wrong: differs(got.code, 'request_timeout') }
}

async function hungUp(scene: SoakScene, tenant: string, turn: number): Promise<Ended> {
  const wish = { account_id: `never-${turn}` }
  const got = await steady(scene, tenant, 'get_account', wish, { hangUpMs: 100 })
  return { ...got, wrong: differs(got.code, 'hung up') }
}

/** Calls the connector that shares its worker with others. */
async function builtIn({ client, directoryUrl }: SoakScene): Promise<Ended> {
  const got = await client.call({
    at: '/connectors/scim/list_accounts',
    body: {
      auth: { token: { token: 'sample-token' } },
      settings: { base_url: directoryUrl },
      request: {},
      page: { size: 50 },
    },
    deadlineMs: DEFAULT_MS,
  })
  return { ...got, wrong: failed(got) ?? sameAsBefore('scim', JSON.stringify(got.body.response)) }
}

/** Requests the large documents, which need no token. */
function documents(scene: SoakScene, _tenant: string, turn: number): Promise<Ended> {
  return asBefore(scene, turn % 2 === 0 ? '/docs/api' : '/openapi.json')
}

async function asBefore({ client }: SoakScene, at: string, token?: string): Promise<Ended> {
  const isText = at === '/docs/api'
  const got = await client.call({ at, isText, deadlineMs: HOST_MS, ...(token && { token }) })
  return { ...got, wrong: failed(got) ?? sameAsBefore(at, got.text) }
}

function sameAsBefore(asked: string, answer: string): string | null {
  const before = known.get(asked) ?? answer
  known.set(asked, before)
  return differs(answer, before)
}
