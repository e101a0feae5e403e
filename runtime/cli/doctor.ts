/** `keyway doctor`: reports what grows and what is left over, and removes left-over databases. */

import { stat } from 'node:fs/promises'
import { ConfigError, readConfig } from '../config/config.ts'
import type { Doctor, DoctorFinding, OutsideCluster } from '../contract/endpoints/doctor.ts'
import { outsideClusters, removeLeftOver } from '../doctor/clusters.ts'
import { examineFiles } from '../doctor/examine.ts'
import { formatBytes } from '../doctor/sizes.ts'
import { visible } from '../observe/visible.ts'
import { ask } from './operator/change.ts'
import { UNUSED } from './operator/client.ts'
import { canAsk, isAgreed } from './terminal/is-agreed.ts'
import { terminalJson } from './terminal/json.ts'
import { EXIT, type ReadFlags } from './terminal/options.ts'

type DoctorFlags = ReadFlags & {
  /** True for all left-over databases, otherwise the names of some. */
  removeClusters?: true | string[]
  yes?: true
  dryRun?: true
}

export async function doctor(flags: DoctorFlags): Promise<void> {
  if (flags.removeClusters !== undefined) return removeClusters(flags)
  const answer = await examined(flags)
  const { findings } = answer
  console.log(flags.json ? terminalJson(answer) : visible(textOf(answer)))
  if (findings.some(({ state }) => state === 'act')) process.exitCode = EXIT.refused
}

/** Returns the report of the host or, without a host, of this machine's disk. */
async function examined(flags: DoctorFlags): Promise<Doctor> {
  try {
    const answer = await ask<Doctor>(flags, '/operator/doctor')
    const what = 'the host answers'
    return withHost(answer, { check: 'host', state: 'good', what, advice: null })
  } catch (error) {
    // A host at another address has no files here.
    if (!(error instanceof ConfigError) || flags.url !== undefined) throw error
    return withHost(await ofDisk(), {
      check: 'host',
      state: 'act',
      what: `the host could not be asked, so its database was not checked: ${error.message}`,
      advice: 'the following checks cover only the disk of this machine',
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
      `there is no data directory ${dataDir} (${error.code}): is KEYWAY_DATA_DIR the same as the host’s?`,
    )
  })
  return examineFiles({ dataDir, isEmbedded: databaseUrl === '' })
}

const MARKS = { good: 'ok  ', look: 'look', act: 'ACT ' } as const

function textOf({ findings, tables }: Doctor): string {
  const lines = findings.flatMap(({ check, state, what, advice }) => [
    `${MARKS[state]}  ${check}: ${what}`,
    ...(advice === null ? [] : [`        ${advice}`]),
  ])
  const kept = tables.filter(({ kept_days }) => kept_days !== null)
  const rows = kept.map(({ table, rows: count, bytes, kept_days, over }) => [
    `${table}: ${count} rows, ${formatBytes(bytes)}`,
    `kept ${kept_days} days after they ended`,
    over === null
      ? 'expired rows were not counted: that takes too long'
      : `${over} expired rows wait to be removed`,
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
    console.log(json ? terminalJson({ [key]: all }) : visible(listed(head, all)))
  if (left.length === 0) return told('removed', [], 'No database is left over.')
  if (dryRun) return told('would_remove', left, 'Would be removed (nothing was):')
  if (!yes && !(await agreed(left, json)))
    throw new ConfigError(listed('Nothing was removed; --yes removes without asking:', left))
  const removed = await removeLeftOver(
    left.map(({ place }) => place),
    [dataDir],
  ).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(
      `not all could be removed: ${error.message}; run this as the user that ran their hosts`,
    )
  })
  told('removed', removed, `Removed ${removed.length} left-over databases:`)
}

/**
 * Returns the left-over databases, or only the named ones.
 *
 * @throws ConfigError if a named one is not left over
 */
function chosen(found: readonly OutsideCluster[], places: readonly string[] | null) {
  for (const place of places ?? []) {
    const cluster = found.find((one) => one.place === place)
    if (cluster?.use === 'left_over') continue
    throw new ConfigError(
      cluster
        ? `${cluster.folder} is not removed: ${cluster.why}`
        : `there is no database named ${place} outside a data directory; keyway doctor --json lists them`,
    )
  }
  return found.filter(
    ({ place, use }) => use === 'left_over' && (places === null || places.includes(place)),
  )
}

const listed = (head: string, all: readonly OutsideCluster[]): string =>
  [head, ...all.map(({ folder, why, bytes }) => `  ${folder}, ${formatBytes(bytes)}: ${why}`)].join(
    '\n',
  )

async function agreed(left: readonly OutsideCluster[], json?: true): Promise<boolean> {
  if (json || !canAsk()) return false
  console.log(visible(listed('The data directories of these databases no longer exist:', left)))
  return isAgreed('Remove them permanently? [y/N] ')
}
