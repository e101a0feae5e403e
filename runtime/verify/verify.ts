/**
 * Runs the corpus of hostile connectors against a real host and reports the end of each attack. Implements
 * `keyway verify`. Uses the host only through HTTP.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { messageOf } from '../contract/errors/thrown.ts'
import { entriesOf } from '../contract/schema/keys.ts'
import type { Containment } from '../lanes/launch.ts'
import { type Attack, type Family, isRefused } from './attacks/attack.ts'
import { ATTACKS } from './attacks/attacks.ts'
import type { HostState } from './host-link.ts'
import { judgeAttack } from './judge.ts'
import { type Noticed, startNeighbours } from './neighbours.ts'
import { type Observed, place, runAttack } from './run-attack.ts'
import { openScene, type Scene } from './scene.ts'

type Selected = { family: Family; attack: Attack }

/** One line of the report. Times are in milliseconds. */
export type AttackOutcome = {
  attack: string
  family: Family
  /** How the attack ended: endings, `ghost`, and whether its worker died. */
  contained: string
  neighbourErrors: number
  neighbourP99Ms: number
  slowestMs: number
  recoveryMs: number | null
  peakWorkerBytes: number
  tookMs: number
  /** Share of the processors that other programs left, at most 1. Time limits were longer by that much. */
  leftShare: number
  /** Number of runs: more than one if other programs left little of the processors. */
  tries: number
  /** Findings, empty if the attack was contained. */
  findings: string[]
}

export type Report = {
  containment: Containment
  /** p99 of the neighbours without an attack, in milliseconds. */
  quietP99Ms: number
  /** p99 of /healthz alone. If it is much lower, the workers wait for a processor, not the host. */
  quietHealthP99Ms: number
  /**
   * Longest stall of the measuring process during that, in milliseconds. On a busy machine the figures are
   * too high.
   */
  quietOwnStallMs: number
  outcomes: AttackOutcome[]
  /** Growth of the memory in use in the host after all attacks, in bytes. */
  hostGrowthBytes: number
  tookMs: number
}

type VerifyOptions = {
  /** File of the host process. */
  entry: string
  selected: readonly Selected[]
  quick?: boolean
  onBegin?(done: number, all: number, attack: string): void
  onOutcome?(outcome: AttackOutcome): void
}

/** Returns all attacks, those of a family, or a single one. Returns null if there is none of that name. */
export function select(family?: string, only?: string): Selected[] | null {
  const found = entriesOf<Record<Family, readonly Attack[]>>(ATTACKS)
    .filter(([name]) => family === undefined || name === family)
    .flatMap(([name, attacks]) => attacks.map((attack) => ({ family: name, attack })))
    .filter(({ attack }) => only === undefined || attack.name === only)
  return found.length === 0 ? null : found
}

/**
 * Time in which the neighbours are measured without an attack, in milliseconds. p99 is the fourth slowest of
 * 400 calls.
 */
const QUIET_MS = 4000
/**
 * Time in which the neighbours warm up before that, in milliseconds: the first calls start workers and
 * compile.
 */
const WARM_MS = 2000
/** The same times in a quick run, which judges no p99. */
const QUICK_MS = 500

/** Runs attacks one after another. */
export async function verify(options: VerifyOptions): Promise<Report> {
  const begun = performance.now()
  const { entry, selected, quick = false } = options
  const granted = selected.filter(({ attack }) => attack.granted).map(({ attack }) => attack.name)
  const scene = await openScene(entry, granted, quick)
  try {
    const quiet = await watchQuiet(scene)
    const first = await scene.host.state()
    const outcomes: AttackOutcome[] = []
    let prepared: Family | null = null
    let known: HostState | null = null
    for (const { family, attack } of selected) {
      options.onBegin?.(outcomes.length, selected.length, attack.name)
      if (family !== prepared) {
        await prepare(family, selected, scene)
        known = null
      }
      prepared = family
      const { outcome, after } = await runOne(family, attack, scene, quiet.healthP99Ms, known)
      known = after
      outcomes.push(outcome)
      options.onOutcome?.(outcome)
      if (scene.host.ended !== null) break
    }
    const last = scene.host.ended === null ? await scene.host.state() : first
    return {
      containment: scene.host.containment,
      quietP99Ms: quiet.p99Ms,
      quietHealthP99Ms: quiet.healthP99Ms,
      quietOwnStallMs: quiet.ownStallMs,
      outcomes,
      hostGrowthBytes: last.usedBytes - first.usedBytes,
      tookMs: performance.now() - begun,
    }
  } finally {
    await scene.close()
  }
}

async function watchQuiet({ client, upstream, quick }: Scene): Promise<Noticed> {
  const warming = startNeighbours(client, upstream.url, quick)
  await pause(quick ? QUICK_MS : WARM_MS)
  await warming.stop()
  const neighbours = startNeighbours(client, upstream.url, quick)
  await pause(quick ? QUICK_MS : QUIET_MS)
  return neighbours.stop()
}

/**
 * Has the folders of a family checked together. One by one, each would wait for its files to stop changing.
 */
async function prepare(family: Family, selected: readonly Selected[], scene: Scene): Promise<void> {
  const served = selected.filter(
    (one) => one.family === family && !isRefused(one.attack) && !one.attack.armedAfterMs,
  )
  await Promise.all(served.map(({ attack }) => place(family, attack, scene)))
}

/**
 * A call's deadline counts wall time. If other programs left less than this share of the processors, an
 * attack with findings is run again, up to this number of runs. A real defect shows up every time.
 */
const CROWDED_SHARE = 0.5
const MAX_ATTEMPTS = 3

async function runOne(
  family: Family,
  attack: Attack,
  scene: Scene,
  quietHealthP99Ms: number,
  known: HostState | null,
): Promise<{ outcome: AttackOutcome; after: HostState | null }> {
  const begun = performance.now()
  const base = { attack: attack.name, family }
  let tries = 1
  try {
    for (; ; tries += 1) {
      const seen: Observed = await runAttack(family, attack, scene, tries === 1 ? known : null)
      const findings = judgeAttack(attack, seen, { paths: scene.paths, quietHealthP99Ms })
      const isCrowded = seen.leftShare < CROWDED_SHARE && tries < MAX_ATTEMPTS
      if (findings.length > 0 && isCrowded) continue
      const outcome = { ...base, ...told(seen), tries, findings, tookMs: since(begun) }
      return { outcome, after: seen.after }
    }
  } catch (error) {
    const findings = [scene.host.ended ?? messageOf(error)]
    const outcome = { ...base, ...NOTHING_TOLD, tries, findings, tookMs: since(begun) }
    return { outcome, after: null }
  }
}

const since = (begun: number): number => performance.now() - begun

const NOTHING_TOLD = {
  contained: 'not contained',
  neighbourErrors: 0,
  neighbourP99Ms: 0,
  slowestMs: 0,
  recoveryMs: null,
  peakWorkerBytes: 0,
  leftShare: 1,
}

function told({ ghost, calls, noticed, recoveryMs, workerDeaths, ...seen }: Observed) {
  const endings = [...new Set(calls.map(({ ending }) => ending))]
  const how = ghost === null ? endings.join(', ') : 'refused'
  return {
    contained: workerDeaths > 0 ? `${how} (worker ended)` : how,
    neighbourErrors: noticed.errors.length,
    neighbourP99Ms: noticed.p99Ms,
    slowestMs: Math.max(0, ...calls.map(({ tookMs }) => tookMs)),
    recoveryMs: ghost === null ? recoveryMs : null,
    peakWorkerBytes: seen.peakWorkerBytes,
    leftShare: seen.leftShare,
  }
}
