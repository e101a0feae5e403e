/** What `keyway doctor` and `GET /operator/doctor` say: what grows, what is left over, and what to do. */
import * as v from 'valibot'
import { row } from './operator-row.ts'

const describe = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.metadata({ description }))

/** DOCTOR_CHECKS: name -> what is looked at. */
export const DOCTOR_CHECKS = {
  host: 'whether the host answers; said by the command alone',
  disk: 'free space where the data directory and the embedded database are',
  backup: 'the age of the last backup of the embedded database',
  clusters: 'embedded databases outside of data directories whose data directory is gone',
  set_aside: 'databases that a restore has moved aside',
  programs: 'programs of PostgreSQL that other versions of Keyway brought',
  sockets: 'sockets of database servers that do not run any more',
  unfinished: 'files that a process has left behind that ended in the middle of its work',
  bundles: 'compiled connectors on the disk',
  tables: 'tables, and what of them is not kept any more',
  retention: 'whether what is not kept any more is removed',
  generations: 'generations of what is installed, and packages',
  clock: 'how far the clock of the host is from the one of the database',
  rotation: 'what still needs an older secret of KEYWAY_SECRET',
  apps: 'apps that are paused because their system does not answer',
  jobs: 'how long work in the background has been due',
} as const
export type DoctorCheck = keyof typeof DOCTOR_CHECKS
export const DOCTOR_CHECK_NAMES = Object.keys(DOCTOR_CHECKS) as DoctorCheck[]

export const FINDING_STATES = ['good', 'look', 'act'] as const

export const DoctorFinding = v.pipe(
  v.strictObject({
    check: describe(
      v.picklist(DOCTOR_CHECK_NAMES),
      Object.entries(DOCTOR_CHECKS)
        .map(([name, what]) => `${name}: ${what}`)
        .join('. '),
    ),
    state: describe(
      v.picklist(FINDING_STATES),
      'good: nothing to do. look: something to tidy up, or that passes. act: something will fail, or fails already',
    ),
    what: describe(v.string(), 'What was found'),
    advice: v.nullable(describe(v.string(), 'What to do; null: nothing')),
  }),
  v.metadata({ title: 'DoctorFinding' }),
)
export type DoctorFinding = v.InferOutput<typeof DoctorFinding>

/** Rows are counted one by one up to so many. */
export const MOST_ROWS_COUNTED = 10_000

export const TableSize = v.pipe(
  v.strictObject({
    table: v.string(),
    rows: describe(
      v.number(),
      `How many rows it has; above ${MOST_ROWS_COUNTED} as many as the database estimates`,
    ),
    bytes: describe(v.number(), 'Its size on the disk, with its indexes'),
    kept_days: v.nullable(
      describe(v.number(), 'How long a row is kept after it is over; null: other means bound it'),
    ),
    kept: describe(v.string(), 'What stays, or what bounds it'),
    over: v.nullable(
      describe(
        v.number(),
        `Rows that are not kept any more and wait to be removed; ${MOST_ROWS_COUNTED} means as many or more; null: none are removed, or they could not be counted in time`,
      ),
    ),
  }),
  v.metadata({ title: 'TableSize' }),
)
export type TableSize = v.InferOutput<typeof TableSize>

export const OutsideCluster = v.pipe(
  v.strictObject({
    place: describe(v.string(), 'Name of its folder, 16 hexadecimal digits'),
    folder: v.string(),
    data_directory: v.nullable(describe(v.string(), 'Whose it is, or was; null: it does not say')),
    use: describe(
      v.picklist(['used', 'left_over', 'unknown']),
      'left_over: its data directory is gone, or has another database',
    ),
    why: v.string(),
    bytes: describe(v.number(), 'Its size; of a very large one the part that was counted'),
  }),
  v.metadata({ title: 'OutsideCluster' }),
)
export type OutsideCluster = v.InferOutput<typeof OutsideCluster>

export const Doctor = v.pipe(
  v.strictObject({
    at: describe(v.string(), 'When it was looked at; ISO 8601, UTC'),
    findings: v.array(DoctorFinding),
    tables: describe(v.array(TableSize), 'Largest first; empty where the database was not asked'),
    clusters: describe(
      v.array(OutsideCluster),
      'Embedded databases outside of data directories, on the machine of the one who answers',
    ),
  }),
  v.metadata({
    title: 'Doctor',
    description: 'What grows, what is left over, and what to do about it',
  }),
)
export type Doctor = v.InferOutput<typeof Doctor>

export const DOCTOR_ENDPOINTS = {
  examine: row({
    method: 'GET',
    path: '/doctor',
    summary: 'Say what grows, what is left over, and what to do about it',
    output: Doctor,
  }),
} as const
