/** `keyway doctor`: what grows, what is left over, and what to do; and the removal of left-over databases. */
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { ConfigError, readConfig } from '../config.ts'
import type { Doctor, DoctorFinding, OutsideCluster } from '../contract/endpoints/doctor.ts'
import { visible } from '../contract/visible.ts'
import { outsideClusters, removeLeftOver } from '../doctor/clusters.ts'
import { examineFiles } from '../doctor/examine.ts'
import { bytesWords } from '../doctor/sizes.ts'
import { ask } from './operator/change.ts'
import { EXIT, type ReadFlags } from './options.ts'

export type DoctorFlags = ReadFlags & {
  /** True: all that are left over. */
  removeClusters?: true | string[]
  yes?: true
  dryRun?: true
}

/** What only concerns a host that starts must not keep this from running beside it. */
const UNUSED = { KEYWAY_OPEN_CONNECTORS: '1', KEYWAY_SECRET: '' }

export async function doctor(flags: DoctorFlags): Promise<void> {
  if (flags.removeClusters !== undefined) return removeClusters(flags)
  const answer = await examined(flags)
  const { findings } = answer
  console.log(flags.json ? JSON.stringify(answer, null, 2) : visible(words(answer)))
  if (findings.some(({ state }) => state === 'act')) process.exitCode = EXIT.refused
}

/** What the host says; what lies on this machine's disk where none does. */
async function examined(flags: DoctorFlags): Promise<Doctor> {
  try {
    const answer = await ask<Doctor>(flags, { method: 'GET', path: '/operator/doctor' })
    const what = 'the host answers'
    return withHost(answer, { check: 'host', state: 'good', what, advice: null })
  } catch (error) {
    // Of another machine there is nothing to look at here.
    if (!(error instanceof ConfigError) || flags.url !== undefined) throw error
    return withHost(await ofDisk(), {
      check: 'host',
      state: 'act',
      what: `the host was not asked, so nothing is known of its database: ${error.message}`,
      advice: 'what follows is what lies on the disk of this machine',
    })
  }
}

const withHost = ({ findings, ...rest }: Doctor, host: DoctorFinding): Doctor => ({
  ...rest,
  findings: [host, ...findings],
})

async function ofDisk(): Promise<Doctor> {
  const { dataDir, databaseUrl } = readConfig({ ...process.env, ...UNUSED })
  await stat(dataDir).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(
      `there is no data directory ${dataDir} to look at (${error.code}): is KEYWAY_DATA_DIR the one that the host uses?`,
    )
  })
  return examineFiles({ dataDir, isEmbedded: databaseUrl === '' })
}

const MARKS = { good: 'ok  ', look: 'look', act: 'ACT ' } as const

function words({ findings, tables }: Doctor): string {
  const lines = findings.flatMap(({ check, state, what, advice }) => [
    `${MARKS[state]}  ${check}: ${what}`,
    ...(advice === null ? [] : [`        ${advice}`]),
  ])
  const kept = tables.filter(({ kept_days }) => kept_days !== null)
  const rows = kept.map(({ table, rows: count, bytes, kept_days, over }) => [
    `${table}: ${count} rows, ${bytesWords(bytes)}`,
    `kept ${kept_days} days after they are over`,
    over === null
      ? 'what is over was not counted: it takes too long'
      : `${over} wait to be removed`,
  ])
  const grows =
    rows.length === 0 ? [] : ['', 'What grows:', ...rows.map((row) => `  ${row.join('; ')}`)]
  return [...lines, ...grows].join('\n')
}

async function removeClusters({ removeClusters: wanted, yes, dryRun, json }: DoctorFlags) {
  const { dataDir } = readConfig({ ...process.env, ...UNUSED })
  const places = Array.isArray(wanted) ? wanted : null
  const found = await outsideClusters([dataDir])
  const left = chosen(found, places)
  const told = (key: 'removed' | 'would_remove', all: readonly OutsideCluster[], head: string) =>
    console.log(json ? JSON.stringify({ [key]: all }, null, 2) : visible(listed(head, all)))
  if (left.length === 0) return told('removed', [], 'No database is left over.')
  if (dryRun) return told('would_remove', left, 'Would be removed (nothing was):')
  if (!yes && !(await agreed(left, json)))
    throw new ConfigError(listed('Nothing was removed; --yes removes, without a question:', left))
  const removed = await removeLeftOver(
    left.map(({ place }) => place),
    [dataDir],
  ).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(
      `not all could be removed: ${error.message}; run this as the user who ran their hosts`,
    )
  })
  told('removed', removed, `Removed ${removed.length} left-over databases:`)
}

/** Those that are left over; of some by name, all must be. */
function chosen(found: readonly OutsideCluster[], places: readonly string[] | null) {
  for (const place of places ?? []) {
    const cluster = found.find((one) => one.place === place)
    if (cluster?.use === 'left_over') continue
    throw new ConfigError(
      cluster
        ? `${cluster.folder} is not removed: ${cluster.why}`
        : `there is no database outside of a data directory by the name ${place}; keyway doctor --json lists them`,
    )
  }
  return found.filter(
    ({ place, use }) => use === 'left_over' && (places === null || places.includes(place)),
  )
}

const listed = (head: string, all: readonly OutsideCluster[]): string =>
  [head, ...all.map(({ folder, why, bytes }) => `  ${folder}, ${bytesWords(bytes)}: ${why}`)].join(
    '\n',
  )

async function agreed(left: readonly OutsideCluster[], json?: true): Promise<boolean> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) return false
  console.log(visible(listed('These databases have no data directory any more:', left)))
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question('Remove them for good? [y/N] ')).trim())
  } finally {
    terminal.close()
  }
}
