/** What the hash of a row of the log covers: its own content, and the hash of the row before it. */

import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import type { LogRow } from '../../../database/schema/audit.ts'

/** What a hash covers: every column but the row's number and the hash itself. */
type LogContent = Pick<
  LogRow,
  'domainId' | 'eventType' | 'outcome' | 'actor' | 'targets' | 'metadata' | 'beganAt'
>

/** The hash of the row before the first one. */
export const BEGINNING = ''

/**
 * The hash of a row, 128 hex digits: SHA-512 of canonical JSON, because PostgreSQL's jsonb keeps no order
 * of members and what is stored must be enough to compute it again.
 */
export function hashOf(before: string, row: LogContent): string {
  const [first, moment] = [JSON.stringify(before), JSON.stringify(row.beganAt)]
  return createHash('sha512')
    .update(`[${first},${bodyOf(row)},${moment}]`)
    .digest('hex')
}

/** What a hash covers between the hash before and the moment, as the database's `chain_activity` takes it. */
export function bodyOf(row: Omit<LogContent, 'beganAt'>): string {
  const { domainId, eventType, outcome, actor, targets, metadata } = row
  return canonicalJson([domainId, eventType, outcome, actor, targets, metadata]).slice(1, -1)
}
