/** The complete report of a host. Without a host, the command reports only the checks of the file system. */
import type { Doctor } from '../contract/endpoints/doctor.ts'
import type { KeptDays } from '../core/retention/rules.ts'
import type { Db } from '../database/database.ts'
import { outsideClusters } from './clusters.ts'
import { examineDisk } from './disk.ts'
import { unread } from './found.ts'
import { examineRecord } from './record.ts'
import { tableSizes, tablesFinding } from './tables.ts'

type Disk = { dataDir: string; isEmbedded: boolean }

/** Runs the checks that need no database. */
export async function examineFiles({ dataDir, isEmbedded }: Disk): Promise<Doctor> {
  const clusters = await outsideClusters([dataDir])
  const findings = await examineDisk({ dataDir, isEmbedded, clusters })
  return { at: new Date().toISOString(), findings, tables: [], clusters }
}

/** Runs all checks. */
export async function examine(
  disk: Disk,
  asked: { db: Db; keyIds: readonly string[]; keptDays: KeptDays },
): Promise<Doctor> {
  const files = await examineFiles(disk)
  const record = await examineRecord(asked)
  const sizes = await tableSizes(asked.db, asked.keptDays).catch((error: Error) => error)
  const tables = sizes instanceof Error ? [] : sizes
  const finding =
    sizes instanceof Error ? { check: 'tables' as const, ...unread(sizes) } : tablesFinding(sizes)
  return { ...files, findings: [...files.findings, finding, ...record], tables }
}
