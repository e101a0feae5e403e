/** Tasks on the complete text of an upload. Large ones run in a worker thread (upload-thread.ts). */

import { type ParsedBody, parseBodyBytes } from '../../contract/endpoints/body.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'
import {
  type AccountInput,
  type ActivityRecord,
  UploadedAccounts,
  UploadedActivity,
  type UploadKind,
} from '../../contract/models/upload.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import type { AnySchema } from '../../contract/schema/shape.ts'

/** Task name -> its input. */
export type UploadWork =
  | { name: 'parse'; kind: UploadKind; bytes: Uint8Array; isJson: boolean }
  | { name: 'stage'; kind: UploadKind; text: string }

/** Rows as JSON for a temporary table, and their number. */
export type Staged = { rows: string; count: number }

/** Runs a task synchronously. @throws body_too_large */
export const done = (work: UploadWork): ParsedBody | Staged =>
  work.name === 'parse' ? parse(work) : stage(work)

type ParseWork = Extract<UploadWork, { name: 'parse' }>
type StageWork = Extract<UploadWork, { name: 'stage' }>

/** Parses the body of an upload. @throws body_too_large */
export const parse = ({ kind, bytes, isJson }: Omit<ParseWork, 'name'>): ParsedBody =>
  parseBodyBytes(BODIES[kind], bytes, isJson, INPUTS.upload.maxMarks)

const BODIES: Record<UploadKind, AnySchema> = {
  accounts: UploadedAccounts,
  activity: UploadedActivity,
}

/** Builds the rows of a stored upload. */
export function stage({ kind, text }: Omit<StageWork, 'name'>): Staged {
  const rows = kind === 'accounts' ? accountRows(JSON.parse(text)) : activityRows(JSON.parse(text))
  return { rows: JSON.stringify(rows), count: rows.length }
}

const accountRows = (list: AccountInput[]) => list.map(accountRow)
const activityRows = (list: ActivityRecord[]) => list.map(activityRow)

const activityRow = ({ account, event, timestamp, source_app_id, app }: ActivityRecord) => ({
  external_id: account.external_id ?? null,
  email: account.email ?? null,
  type: event.type,
  at: parseDatetime(timestamp)?.toISOString() ?? null,
  source: source_app_id,
  instance: app?.instance_identifier ?? null,
})

const accountRow = (account: AccountInput, n: number) => ({
  n,
  given: account.unique_identifier,
  email: account.email ?? null,
  status: account.status ?? null,
  last_login: momentOf(account.last_login),
  last_activity: momentOf(account.last_activity),
  uploaded: {
    first_name: account.first_name ?? null,
    last_name: account.last_name ?? null,
    permissions: account.permissions,
    attributes: account.attributes,
  },
})

const momentOf = (text: string | undefined): string | null =>
  text === undefined ? null : (parseDatetime(text)?.toISOString() ?? null)
