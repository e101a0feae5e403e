/** Judges the observations of an attack by the rules at the end of sandbox.md section 3. */
import { isOneOf } from '../contract/schema/one-of.ts'
import { type Attack, DEADLINE_MS, ESCAPED, isRefused } from './attacks/attack.ts'
import { ENVIRONMENT_SECRET } from './host-link.ts'
import { HEALTHY_NEIGHBOUR } from './neighbours.ts'
import { type Observed, tokenOf } from './run-attack.ts'

const MEBIBYTE = 1024 * 1024

export const BOUNDS = {
  /** Maximum delay of an answer after the call's deadline, in milliseconds (architecture.md section 2). */
  lateMs: 100,
  /** Maximum time until the same connector answers again, in milliseconds. */
  recoveryMs: 1000,
  /**
   * Maximum recovery time if the worker has died several times and is restarted after a pause, in
   * milliseconds.
   */
  backingOffMs: 5000,
  /** Maximum time until the attack uses no more processor time, in milliseconds. */
  calmMs: 2000,
  /** Maximum duration of a neighbour's call, in milliseconds, without this machine's own delay. */
  neighbourMs: 500,
  /**
   * Maximum growth of the memory in use in the host, and of the memory that its allocator retains, in bytes.
   */
  growthBytes: 64 * MEBIBYTE,
  keptBytes: 256 * MEBIBYTE,
  /** Maximum temporary growth, in bytes. */
  peakGrowthBytes: 512 * MEBIBYTE,
  /** Maximum memory of a worker, in bytes: its cap, and the growth between two samples. */
  workerBytes: 2048 * MEBIBYTE,
  /** Maximum size of one attack's log lines, in bytes. */
  logBytes: 16 * MEBIBYTE,
} as const

/** Names of this machine that no answer may show, and the p99 of /healthz without an attack. */
type Surroundings = { paths: string[]; quietHealthP99Ms: number }

/**
 * Returns the findings as text, none if the attack was contained. Measured times are multiplied by the share
 * of the processors that other programs left.
 */
export function judgeAttack(
  attack: Attack,
  seen: Observed,
  { paths, quietHealthP99Ms }: Surroundings,
): string[] {
  return [
    ...endings(attack, seen),
    ...lateness(attack, seen),
    ...answers(attack, seen, paths),
    ...host(seen),
    ...neighbours(attack, seen, quietHealthP99Ms),
    ...tenantBeside(attack, seen),
    ...afterwards(attack, seen),
  ]
}

function endings(attack: Attack, { ghost, calls }: Observed): string[] {
  if (ghost !== null) return isRefused(attack) ? [] : [`it is not served: ${ghost}`]
  if (isRefused(attack) && attack.ends.length === 1) return ['it is served']
  const wrong = calls.filter(({ ending }) => !isOneOf(attack.ends, ending))
  return unique(wrong.map(({ ending, message }) => `ended with ${ending}: ${message}`))
}

function lateness(attack: Attack, { calls, noticed, leftShare }: Observed): string[] {
  const deadlineMs = attack.deadlineMs ?? DEADLINE_MS
  const slowestMs = Math.max(0, ...calls.map(({ tookMs }) => tookMs))
  // A crowd of calls takes time to send and answer: one millisecond each.
  const crowdMs = attack.together ?? 0
  const lateMs = (slowestMs - deadlineMs - noticed.ownStallMs - crowdMs) * leftShare
  return lateMs > BOUNDS.lateMs
    ? [`answered ${Math.round(lateMs)} ms after its deadline of ${deadlineMs} ms`]
    : []
}

function answers(attack: Attack, { calls, ghost, forbidden }: Observed, paths: string[]): string[] {
  const tenants = attack.tenants ?? 1
  const texts = [...calls.map(({ text }) => text), ghost ?? '']
  const found = texts.flatMap((text, turn) => [
    ...(text.includes(ESCAPED) ? [`it escaped: ${around(text, ESCAPED)}`] : []),
    ...(text.includes(ENVIRONMENT_SECRET) ? ['an answer shows the environment'] : []),
    ...(text.includes(HEALTHY_NEIGHBOUR.token) ? ["an answer shows a neighbour's token"] : []),
    ...paths.filter((one) => text.includes(one)).map((one) => `an answer shows the path ${one}`),
    ...(HOST_FRAMES.test(text) ? [`an answer shows the host: ${HOST_FRAMES.exec(text)?.[0]}`] : []),
    ...(attack.never?.test(text) ? [`an answer contains ${attack.never.exec(text)?.[0]}`] : []),
    ...Array.from({ length: tenants }, (_, tenant) => tenant)
      .filter((tenant) => tenant !== turn % tenants && text.includes(tokenOf(tenant)))
      .map((tenant) => `an answer to one tenant shows the token of another (${tenant})`),
  ])
  return unique([...found, ...forbidden])
}

/** Text that appears only in the host's own stacks and sources. */
const HOST_FRAMES = /node:internal|\/node_modules\/|runtime\/(worker|lanes|egress|invoke)\//i

function host({ before, after, peakHostBytes }: Observed): string[] {
  const grownBytes = after.usedBytes - before.usedBytes
  const keptBytes = after.residentBytes - before.residentBytes
  const peakBytes = peakHostBytes - before.residentBytes
  const loggedBytes = after.logBytes - before.logBytes
  return [
    ...after.changedBuiltIns.map((name) => `the host's ${name} was changed`),
    ...after.logged.map((secret) => `the log contains the secret ${secret}`),
    ...(grownBytes > BOUNDS.growthBytes ? [`the host grew by ${inMb(grownBytes)}`] : []),
    ...(keptBytes > BOUNDS.keptBytes ? [`the host retained ${inMb(keptBytes)} more`] : []),
    ...(peakBytes > BOUNDS.peakGrowthBytes
      ? [`the host temporarily grew by ${inMb(peakBytes)}`]
      : []),
    ...(loggedBytes > BOUNDS.logBytes ? [`it logged ${inMb(loggedBytes)}`] : []),
  ]
}

function neighbours(
  { healthMs = Number.POSITIVE_INFINITY }: Attack,
  { noticed, leftShare }: Observed,
  quietHealthP99Ms: number,
): string[] {
  // Subtract the time without an attack.
  const healthP99Ms = noticed.healthP99Ms - quietHealthP99Ms
  const slowestMs = (noticed.slowestMs - noticed.ownStallMs) * leftShare
  return [
    ...unique(noticed.errors).map((error) => `a neighbour's call failed: ${error}`),
    ...(slowestMs > BOUNDS.neighbourMs
      ? [`a neighbour's call took ${Math.round(slowestMs)} ms`]
      : []),
    ...(healthP99Ms > healthMs ? [`/healthz took ${Math.round(healthP99Ms)} ms (p99)`] : []),
  ]
}

function tenantBeside(
  { otherTenantMs }: Attack,
  { beside, noticed, leftShare }: Observed,
): string[] {
  if (otherTenantMs === undefined || beside === null) return []
  const slowestMs = (beside.slowestMs - noticed.ownStallMs) * leftShare
  return [
    ...(beside.calls === 0 ? ['no call of the other tenant of its worker was answered'] : []),
    ...unique(beside.errors).map((error) => `a call of the other tenant failed: ${error}`),
    ...(slowestMs > otherTenantMs
      ? [`a call of the other tenant took ${Math.round(slowestMs)} ms`]
      : []),
  ]
}

function afterwards(attack: Attack, seen: Observed): string[] {
  const { unrecovered, workerDeaths, peakWorkerBytes, leftShare } = seen
  const counted = (tookMs: number | null) => (tookMs === null ? null : tookMs * leftShare)
  const [recoveryMs, calmMs] = [counted(seen.recoveryMs), counted(seen.calmMs)]
  // The first two deaths of a worker cause no pause.
  const boundMs = workerDeaths > 2 ? BOUNDS.backingOffMs : BOUNDS.recoveryMs
  return [
    ...(recoveryMs === null || recoveryMs > boundMs
      ? [`answered again after ${ms(recoveryMs)}; before that: ${unrecovered}`]
      : []),
    ...(calmMs === null || calmMs > BOUNDS.calmMs ? [`was busy for ${ms(calmMs)} afterwards`] : []),
    ...(workerDeaths > 0 && !attack.workerMayDie ? [`its worker died ${workerDeaths} times`] : []),
    ...(peakWorkerBytes > BOUNDS.workerBytes ? [`a worker took ${inMb(peakWorkerBytes)}`] : []),
  ]
}

const ms = (value: number | null): string =>
  value === null ? 'more than the maximum wait' : `${Math.round(value)} ms`

const inMb = (bytes: number): string => `${Math.round(bytes / MEBIBYTE)} MiB`

const around = (text: string, word: string): string => {
  const at = text.indexOf(word)
  return text.slice(at, at + 200)
}

const unique = (texts: string[]): string[] => [...new Set(texts)].slice(0, 10)
