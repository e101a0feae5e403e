/**
 * The report of `keyway doctor` and `GET /operator/doctor`: what grows, what is left over, and what to do.
 */
import * as v from 'valibot'
import { keysOf } from '../schema/keys.ts'
import { described, strictObject } from '../schema/schemas.ts'
import { row } from './operator-row.ts'

/** Name of a check -> its subject. */
const DOCTOR_CHECKS = {
  host: 'whether the host answers; reported only by the command',
  disk: 'free space on the disks of the data directory and the embedded database',
  backup: 'the age of the last backup of the embedded database',
  clusters: 'embedded databases outside data directories whose data directory is gone',
  set_aside: 'databases that a restore replaced and kept',
  programs: 'PostgreSQL binaries of other Keyway versions',
  sockets: 'sockets of database servers that no longer run',
  unfinished: 'temporary files of interrupted processes',
  bundles: 'compiled connectors on the disk',
  tables: 'table sizes and expired rows',
  retention: 'whether expired rows are removed',
  generations: 'generations of installed connectors, and packages',
  connections: 'whether PostgreSQL accepts as many connections as the hosts may open',
  clock: 'offset between the clocks of host and database',
  rotation: 'what still depends on an older secret in KEYWAY_SECRET',
  apps: 'apps that are paused because their system does not answer',
  jobs: 'how long background jobs have been overdue',
  mail: 'whether mail goes out',
} as const
export type DoctorCheck = keyof typeof DOCTOR_CHECKS
export const DOCTOR_CHECK_NAMES = keysOf(DOCTOR_CHECKS)

const FINDING_STATES = ['good', 'look', 'act'] as const

export const DoctorFinding = strictObject('DoctorFinding', {
  check: described(
    v.picklist(DOCTOR_CHECK_NAMES),
    Object.entries(DOCTOR_CHECKS)
      .map(([name, what]) => `${name}: ${what}`)
      .join('. '),
  ),
  state: described(
    v.picklist(FINDING_STATES),
    'good: nothing to do. look: something to clean up, or temporary. act: something fails or will fail soon',
  ),
  what: described(v.string(), 'What was found'),
  advice: v.nullable(described(v.string(), 'What to do; null: nothing')),
})
export type DoctorFinding = v.InferOutput<typeof DoctorFinding>

/** Rows are counted exactly up to this number. */
export const MAX_ROWS_COUNTED = 10_000

export const TableSize = strictObject('TableSize', {
  table: v.string(),
  rows: described(v.number(), `Number of rows; above ${MAX_ROWS_COUNTED} the database’s estimate`),
  bytes: described(v.number(), 'Its size on the disk, with its indexes'),
  kept_days: v.nullable(
    described(
      v.number(),
      'How many days a row is kept after it ended; null: bounded by other means',
    ),
  ),
  kept: described(v.string(), 'Which rows stay, or what bounds the table'),
  over: v.nullable(
    described(
      v.number(),
      `Expired rows that wait to be removed; ${MAX_ROWS_COUNTED} means that many or more; null: rows of this table do not expire, or counting took too long`,
    ),
  ),
})
export type TableSize = v.InferOutput<typeof TableSize>

export const OutsideCluster = strictObject('OutsideCluster', {
  place: described(v.string(), 'Name of its folder, 16 hexadecimal digits'),
  folder: v.string(),
  data_directory: v.nullable(
    described(v.string(), 'Data directory that it belongs or belonged to; null: not recorded'),
  ),
  use: described(
    v.picklist(['used', 'left_over', 'unknown']),
    'left_over: its data directory is gone, or has another database',
  ),
  why: v.string(),
  bytes: described(v.number(), 'Size in bytes; a lower bound if it has very many files'),
})
export type OutsideCluster = v.InferOutput<typeof OutsideCluster>

export const Doctor = strictObject(
  'Doctor',
  'Report of what grows, what is left over, and what to do about it',
  {
    at: described(v.string(), 'Time of the report; ISO 8601, UTC'),
    findings: v.array(DoctorFinding),
    tables: described(v.array(TableSize), 'Largest first; empty if the database was not queried'),
    clusters: described(
      v.array(OutsideCluster),
      'Embedded databases outside data directories, on the machine that answers',
    ),
  },
)
export type Doctor = v.InferOutput<typeof Doctor>

export const DOCTOR_ENDPOINTS = {
  examine: row.get('/doctor', {
    summary: 'Report what grows, what is left over, and what to do about it',
    output: Doctor,
  }),
} as const
