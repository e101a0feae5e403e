/** Hash of a row of the log. It covers the row's own content and the hash of the previous row. */

import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../contract/schema/canonical-json.ts'
import type { LogRow } from '../../../database/schema/audit.ts'

/** Content that a hash covers: every column except the row's number and the hash itself. */
type LogContent = Pick<
  LogRow,
  'domainId' | 'eventType' | 'outcome' | 'actor' | 'targets' | 'metadata' | 'beganAt'
>

/** Hash that precedes the first row. */
export const BEGINNING = ''

/**
 * Returns the hash of a row, 128 hex digits: SHA-512 of canonical JSON. The JSON is canonical because
 * PostgreSQL's jsonb does not preserve the order of members, and the hash must be reproducible from the
 * stored row.
 */
export function hashOf(before: string, row: LogContent): string {
  const [first, moment] = [JSON.stringify(before), JSON.stringify(row.beganAt)]
  return createHash('sha512')
    .update(`[${first},${bodyOf(row)},${moment}]`)
    .digest('hex')
}

/**
 * Returns the hashed text between the previous hash and the time, in the form that the database function
 * `chain_activity` takes.
 */
export function bodyOf(row: Omit<LogContent, 'beganAt'>): string {
  const { domainId, eventType, outcome, actor, targets, metadata } = row
  return canonicalJson([domainId, eventType, outcome, actor, targets, metadata]).slice(1, -1)
}
