/**
 * Gauges of /metrics: the host's own numbers, and values read from the database and the disk, at most every
 * few seconds and one query at a time. A scrape is answered at once, even if the database or the disk does
 * not respond.
 */
import { statfs } from 'node:fs/promises'
import { only, type Readings } from '../contract/endpoints/metrics.ts'
import type { Connectors } from '../core/kernel/context/connectors.ts'
import { readMeasures } from '../core/measures/measures.ts'
import { lastBackup } from '../database/backup/backup-record.ts'
import { clockOffsetMs } from '../database/clock.ts'
import type { Db } from '../database/database.ts'
import { homeOf } from '../database/server-home.ts'
import type { DatabaseService } from '../database/service.ts'
import { isDatabaseUnavailable } from '../database/unavailable.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { latest } from './latest.ts'
import type { Log } from './log.ts'

type GaugesDeps = {
  /** Null if the host has none. */
  database: DatabaseService | null
  registry: Pick<Connectors, 'ids' | 'find'>
  lanes: Pick<Lanes, 'states' | 'standing'>
  turns: { readonly waiting: number }
  ready(): boolean
  dataDir: string
  /** Whether the database is the embedded one, whose disk and backups are Keyway's. */
  isEmbedded: boolean
  log: Log
  /** Called for each measure that could not be read. */
  onUnread(measure: string): void
}

/** Maximum age of a cached reply of the database, of its measures and of the disk's, in milliseconds. */
const UP_MS = 1000
const MEASURES_MS = 10_000
const DISK_MS = 5000
/** Age from which a reading is no longer reported, in milliseconds. */
const STALE_MS = 60_000

/** Creates the function that reads all gauges. */
export function createGauges(deps: GaugesDeps): () => Promise<Readings> {
  const { database, registry, dataDir, log } = deps
  const isEmbedded = database !== null && deps.isEmbedded
  const places = {
    data: dataDir,
    ...(isEmbedded ? { database: homeOf(dataDir).cluster } : {}),
  }

  const unread = (measure: string, error: unknown): void => {
    deps.onUnread(measure)
    // The database itself logs that it is unavailable.
    if (isDatabaseUnavailable(error))
      log.debug({ err: error, measure }, 'a metric could not be read')
    else log.warn({ err: error, measure }, 'a metric could not be read')
  }
  const reached = (): Db => {
    const db = database?.db()
    if (!db) throw new Away()
    return db
  }
  const clock = latest(UP_MS, UP_MS, async () => only((await clockOffsetMs(reached())) / 1000))
  const fromDatabase = latest(MEASURES_MS, STALE_MS, async () =>
    readMeasures(reached(), { connectors: registry, domainId: database?.domainId() ?? '' }, unread),
  )
  const fromDisk = latest(DISK_MS, STALE_MS, () =>
    readDisk(places, isEmbedded ? dataDir : null, unread),
  )

  async function databaseReadings(): Promise<Readings> {
    if (!database) return {}
    const offset = await clock()
    if (offset === null) return { keyway_database_up: only(0), ...pool(database) }
    return {
      keyway_database_up: only(1),
      keyway_clock_offset_seconds: offset,
      ...pool(database),
      ...(await fromDatabase()),
    }
  }

  return async () => {
    const [ready, disk, records] = await Promise.all([deps.ready(), fromDisk(), databaseReadings()])
    return { ...hostReadings(deps), keyway_ready: only(ready ? 1 : 0), ...disk, ...records }
  }
}

/** Error while the database has not been reached yet. */
class Away extends Error {}

function pool(database: DatabaseService): Readings {
  const { busy, idle, waiting } = database.connections()
  const rows = Object.entries({ busy, idle, waiting })
  return {
    keyway_database_connections: rows.map(([state, value]) => ({ labels: { state }, value })),
  }
}

function hostReadings({ lanes, registry, turns, ready }: GaugesDeps): Readings {
  const states = lanes.states()
  const sum = (of: (state: (typeof states)[number]) => number) =>
    states.reduce((total, state) => total + of(state), 0)
  return {
    keyway_ready: only(ready() ? 1 : 0),
    keyway_calls_waiting: [
      { labels: { for: 'turn' }, value: turns.waiting },
      { labels: { for: 'isolate' }, value: sum(({ waiting }) => waiting) },
    ],
    keyway_calls_running: only(sum(({ calls }) => calls)),
    keyway_isolates: only(sum(({ isolates }) => isolates)),
    keyway_lanes: only(states.length),
    keyway_connectors: only(registry.ids().length),
    keyway_connectors_suspect: only(lanes.standing.count('suspect')),
    keyway_connectors_quarantined: only(lanes.standing.count('quarantined')),
  }
}

async function readDisk(
  places: Readonly<Record<string, string>>,
  backupsOf: string | null,
  unread: (measure: string, error: unknown) => void,
): Promise<Readings> {
  const failed = (error: unknown) => {
    unread('disk', error)
    return null
  }
  const found = await Promise.all(
    Object.entries(places).map(async ([place, folder]) => {
      const disk = await statfs(folder).catch(failed)
      return disk === null ? [] : [{ labels: { place }, disk }]
    }),
  )
  const disks = found.flat()
  const note = backupsOf === null ? null : await lastBackup(backupsOf).catch(failed)
  const backedUpMs = note === null ? 0 : Date.parse(note.complete_until)
  return {
    // Space available to the host: some of the free space is reserved for root.
    keyway_disk_free_bytes: disks.map(({ labels, disk }) => ({
      labels,
      value: disk.bavail * disk.bsize,
    })),
    keyway_disk_size_bytes: disks.map(({ labels, disk }) => ({
      labels,
      value: disk.blocks * disk.bsize,
    })),
    ...(backupsOf === null
      ? {}
      : { keyway_last_backup_timestamp_seconds: only(backedUpMs / 1000) }),
  }
}
