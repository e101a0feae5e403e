/**
 * Runs one attack and records the outcome: the answers to its callers, the effect on others, and what
 * remains.
 */
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type Attack, DEADLINE_MS, type Family } from './attacks/attack.ts'
import type { Ended } from './client.ts'
import { writeFolder } from './corpus.ts'
import type { HostState } from './host-link.ts'
import type { Beside, Noticed } from './neighbours.ts'
import { startNeighbours, startOtherTenant } from './neighbours.ts'
import { cpuMsOf, familyOf } from './processes.ts'
import { watchLeftShare } from './processor-share.ts'
import type { Scene } from './scene.ts'

/** All observations of one attack. */
export type Observed = {
  /** Reason why the folder is not served, or null. */
  ghost: string | null
  calls: Ended[]
  noticed: Noticed
  /** Measurements of the other tenant in the same worker, or null if there was none. */
  beside: Beside | null
  /**
   * Time from the last answer of the attack to a healthy answer of the same connector, in milliseconds. Null
   * if none came.
   */
  recoveryMs: number | null
  /** Last reply while the connector did not recover. */
  unrecovered: string
  /** Time from then until the host used no more processor time, in milliseconds. Null if it did not stop. */
  calmMs: number | null
  workerDeaths: number
  before: HostState
  after: HostState
  /** Largest resident memory of the host, and of any of its descendants, in bytes. */
  peakHostBytes: number
  peakWorkerBytes: number
  /** Forbidden texts that arrived at the servers of the run. */
  forbidden: string[]
  /** Share of the processors that other programs left, at most 1. Measured times are multiplied by it. */
  leftShare: number
}

const TOKENS = 'token-of-attacked-tenant-'
/**
 * Returns the token of the n-th tenant. Each names its tenant, so that a token in another tenant's answer is
 * detected.
 */
export const tokenOf = (tenant: number): string => `${TOKENS}${tenant}-7d1b`

const tokenFor = ({ token }: Attack, tenant: number): string =>
  token?.(tokenOf(tenant)) ?? tokenOf(tenant)

/** Maximum time to check a folder, in milliseconds: more than twice the compiler's own limit. */
const JUDGED_MS = 60_000
/** Time after a call's deadline at which waiting for it ends and is a finding, in milliseconds. */
const CALL_PATIENCE_MS = 10_000
/** Times to recover and to become calm, and the window of one measurement, in milliseconds. */
const RECOVERY_MS = 5000
const CALM_MS = 4000
const CALM_WINDOW_MS = 150
/** Processor time within the window that counts as idle, in milliseconds. One tick of the clock is 10. */
const CALM_CPU_MS = 30
const SAMPLE_MS = 50
/**
 * Buffers of closed connections are freed later: maximum wait, interval of the checks, and a size that does
 * not matter.
 */
const SETTLE_MS = 2000
const SETTLE_EVERY_MS = 400
const SETTLED_BYTES = 16 * 1024 * 1024

/**
 * Runs an attack whose folder may exist already.
 *
 * @param known State of the host if it was read since its last activity. Reading it collects the host's
 * garbage.
 */
export async function runAttack(
  family: Family,
  attack: Attack,
  scene: Scene,
  known: HostState | null = null,
): Promise<Observed> {
  const { client, host, upstream } = scene
  const before = known ?? (await host.state())
  upstream.forbidden()
  const memory = sampleMemory(host.pid)
  const leftShare = watchLeftShare(host.pid)
  const neighbours = startNeighbours(client, upstream.url, scene.quick)
  const droppedMs = performance.now()
  const { folder, ghost } = await place(family, attack, scene)
  const refused = ghost !== null
  const calls: Ended[] = []
  let recovered: Recovery = { recoveryMs: 0, unrecovered: '' }
  let beside: Beside | null = null
  if (!refused) {
    const restMs = (attack.armedAfterMs ?? 0) - (performance.now() - droppedMs)
    if (restMs > 0) await pause(restMs)
    const other =
      attack.otherTenantMs === undefined ? null : await startOtherTenant(client, attack.name)
    calls.push(...(await (attack.pages ? askPages(attack, scene) : makeCalls(attack, scene))))
    beside = (await other?.stop()) ?? null
    await host.letGo()
    if (!attack.staysDown) recovered = await recover(attack, scene, leftShare)
  }
  const noticed = await neighbours.stop()
  const calmMs = await untilCalm(host.pid, leftShare)
  const after = await settledState(scene, before)
  const digest = await digestOf(attack, scene)
  const deaths = after.workers.find(({ lane }) => lane === digest)?.deaths ?? 0
  await rm(folder, { recursive: true, force: true })
  return {
    ghost,
    calls,
    noticed,
    beside,
    ...recovered,
    calmMs,
    workerDeaths: deaths,
    before,
    after,
    ...memory(),
    forbidden: upstream.forbidden(),
    leftShare: leftShare(),
  }
}

/** Writes the folder of an attack and waits for its check: it is served, or there is a reason why not. */
export async function place(
  family: Family,
  attack: Attack,
  scene: Scene,
): Promise<{ folder: string; ghost: string | null }> {
  const folder = await writeFolder(family, attack, scene)
  const endMs = performance.now() + JUDGED_MS
  for (;;) {
    const row = (await scene.operator()).find((one) => one.folder === folder)
    if (row?.state === 'ready' && row.serving) return { folder, ghost: null }
    if (row?.state === 'ghost' || row?.state === 'ready')
      return { folder, ghost: row.reason ?? 'it is not served' }
    if (performance.now() > endMs)
      throw new Error(`${attack.name}: still ${row?.state ?? 'unseen'} after ${JUDGED_MS} ms`)
    await pause(20)
  }
}

/** Waits until the host has released the attack's memory, up to a limit. Returns the host's state. */
async function settledState({ host }: Scene, before: HostState): Promise<HostState> {
  const endMs = performance.now() + SETTLE_MS
  for (;;) {
    const state = await host.state()
    if (state.usedBytes - before.usedBytes < SETTLED_BYTES || performance.now() > endMs)
      return state
    // Each check collects all garbage of the host.
    await pause(SETTLE_EVERY_MS)
  }
}

async function digestOf({ name }: Attack, scene: Scene): Promise<string | null> {
  const row = (await scene.operator()).find((one) => one.folder.endsWith(`/${name}`))
  return row?.digest ?? null
}

/** Makes all calls of the attack, `together` at a time, alternating between tenants. */
async function makeCalls(attack: Attack, scene: Scene): Promise<Ended[]> {
  const { settings = [{}], together = 1, tenants = 1, action, requestJson } = attack
  const count = Math.max(settings.length, (scene.quick && attack.quickCalls) || attack.calls || 1)
  const ended: Ended[] = []
  let next = 0
  async function caller(): Promise<void> {
    while (next < count) {
      const turn = next
      next += 1
      if (action !== undefined) await scene.host.takeOver(action)
      if (attack.byCore) {
        ended[turn] = await callByCore(attack, scene, turn)
        continue
      }
      ended[turn] = await scene.client.call(attack.name, 'list_accounts', {
        token: tokenFor(attack, turn % tenants),
        basic: attack.basic,
        settings: fill(settings[turn % settings.length] ?? {}, scene, turn % tenants),
        ...(requestJson === undefined ? {} : { requestJson }),
        patienceMs: (attack.deadlineMs ?? DEADLINE_MS) + CALL_PATIENCE_MS,
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(together, count) }, caller))
  return ended
}

/** Requests the pages of one sequence up to the last. */
async function askPages(attack: Attack, scene: Scene): Promise<Ended[]> {
  const { name, pages = 1, deadlineMs = DEADLINE_MS } = attack
  const ended: Ended[] = []
  let pageToken: string | null = null
  do {
    const patienceMs = deadlineMs + CALL_PATIENCE_MS
    const token = tokenFor(attack, 0)
    const one = await scene.client.call(name, 'list_accounts', {
      token,
      basic: attack.basic,
      pageToken,
      patienceMs,
    })
    ended.push(one)
    pageToken = one.nextPage
  } while (pageToken !== null && ended.length <= pages)
  if (ended.length === pages) return ended
  const message = `the sequence had ${ended.length} of ${pages} pages`
  return [...ended, { ending: 'cut short', message, text: '', tookMs: 0, nextPage: null }]
}

/** Makes a call by the core, as a sync does. The host parses the answer and returns none of it. */
async function callByCore(attack: Attack, scene: Scene, turn: number): Promise<Ended> {
  const { tenants = 1, settings = [{}] } = attack
  const begun = performance.now()
  const tenant = turn % tenants
  const filled = fill(settings[turn % settings.length] ?? {}, scene, tenant)
  const { ending, message } = await scene.host.coreCall(attack.name, tokenOf(tenant), filled)
  return { ending, message, text: message, tookMs: performance.now() - begun, nextPage: null }
}

function fill(settings: Readonly<Record<string, string>>, { upstream }: Scene, tenant: number) {
  const { url, rawUrl, directoryUrl, databaseUrl, canaryUrl } = upstream
  const { port } = new URL(canaryUrl)
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      value
        .replace('{upstream}', url)
        .replace('{raw}', rawUrl)
        .replace('{directory}', directoryUrl)
        .replace('{database}', databaseUrl)
        .replace('{canary}', canaryUrl)
        .replace('{tenant}', tokenOf(tenant))
        .replace('{port}', port),
    ]),
  )
}

type Recovery = Pick<Observed, 'recoveryMs' | 'unrecovered'>

/** Sends harmless calls to the same connector, as the same tenant and as another, until both are answered. */
async function recover(attack: Attack, scene: Scene, leftShare: () => number): Promise<Recovery> {
  const begun = performance.now()
  let unrecovered = ''
  for (const tenant of [0, 99]) {
    const settings = fill(attack.settings?.[0] ?? {}, scene, tenant)
    for (;;) {
      const { ending, message } = await scene.client.call(attack.name, 'get_account', {
        token: tokenFor(attack, tenant),
        basic: attack.basic,
        settings,
        patienceMs: CALL_PATIENCE_MS,
      })
      if (ending === 'answer') break
      unrecovered = `${ending}: ${message}`
      if ((performance.now() - begun) * leftShare() > RECOVERY_MS)
        return { recoveryMs: null, unrecovered }
      await pause(20)
    }
  }
  return { recoveryMs: performance.now() - begun, unrecovered }
}

/** Waits until the host and its workers use no processor time. Returns null if they do not stop. */
async function untilCalm(pid: number, leftShare: () => number): Promise<number | null> {
  const begun = performance.now()
  while ((performance.now() - begun) * leftShare() < CALM_MS) {
    const before = cpuMsOf(pid)
    const windowMs = performance.now()
    await pause(CALM_WINDOW_MS)
    // The difference is negative if a process that took some has ended.
    if (cpuMsOf(pid) - before <= CALM_CPU_MS) return windowMs - begun
  }
  return null
}

/** Samples the resident memory until the maximum is requested. */
function sampleMemory(pid: number) {
  let peakHostBytes = 0
  let peakWorkerBytes = 0
  const look = () => {
    for (const one of familyOf(pid)) {
      if (one.pid === pid) peakHostBytes = Math.max(peakHostBytes, one.residentBytes)
      else peakWorkerBytes = Math.max(peakWorkerBytes, one.residentBytes)
    }
  }
  const timer = setInterval(look, SAMPLE_MS)
  return () => {
    clearInterval(timer)
    return { peakHostBytes, peakWorkerBytes }
  }
}
