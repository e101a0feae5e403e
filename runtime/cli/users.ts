/** `keyway users import`: sends a file of people to the running host and shows the changes. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { ConfigError } from '../config/config.ts'
import { MAX_PEOPLE_BYTES, type PeopleDifference } from '../contract/models/people-file.ts'
import { visible } from '../observe/visible.ts'
import { callOperator, findOperator } from './operator/client.ts'
import { counted } from './terminal/counted.ts'
import { fileFault } from './terminal/file-fault.ts'
import { terminalJson } from './terminal/json.ts'

type ImportFlags = { dryRun?: true; url?: string; json?: true }

/** Minimum size of a file whose progress is shown, in bytes. */
const SHOW_FROM_BYTES = 1024 * 1024
const MIB = 1024 * 1024
/** Maximum time for the host to process a file, in milliseconds. */
const IMPORT_MS = 3_600_000

export async function importUsers(file: string, { dryRun, url, json }: ImportFlags): Promise<void> {
  const length = await sizeOf(file)
  const target = await findOperator(process.env, url)
  const progress = process.stderr.isTTY && length >= SHOW_FROM_BYTES
  let finish = () => {}
  const body = () => {
    const stream = createReadStream(file)
    if (progress) finish = showProgress(stream, length)
    return stream
  }
  const query = new URLSearchParams({ file_name: path.basename(file) })
  if (dryRun) query.set('dry_run', 'true')
  try {
    const answer = await callOperator<PeopleDifference>(target, {
      method: 'POST',
      path: `/operator/users/import?${query}`,
      contentType: 'text/csv',
      body,
      length,
      patienceMs: IMPORT_MS,
    })
    finish()
    console.log(json ? terminalJson(answer) : visible(words(file, answer)))
  } finally {
    finish()
  }
}

/** @throws ConfigError if the path is not a file that can be sent */
async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) => {
    throw fileFault(file, error, 'name a CSV file with a header')
  })
  if (!found.isFile()) throw new ConfigError(`${file} is not a file`)
  if (found.size > MAX_PEOPLE_BYTES)
    throw new ConfigError(
      `${file} has ${Math.ceil(found.size / MIB)} MiB; at most ${MAX_PEOPLE_BYTES / MIB} are allowed: split it, with the header in each part`,
    )
  return found.size
}

/** Shows progress in one line: the percentage read, then that the database is working. */
function showProgress(body: NodeJS.EventEmitter, length: number): () => void {
  let sent = 0
  let shown = ''
  const show = (text: string) => {
    if (text === shown) return
    process.stderr.write(`\r\x1b[K${text}`)
    shown = text
  }
  body.on('data', (chunk: Buffer) => {
    sent += chunk.length
    show(
      sent < length
        ? `reading: ${Math.floor((100 * sent) / length)} % of ${Math.ceil(length / MIB)} MiB`
        : 'comparing and writing …',
    )
  })
  return () => show('')
}

/** Describes a difference for people. */
function words(file: string, difference: PeopleDifference): string {
  const { dry_run, rows, added, changed, unchanged, groups_made, changed_fields } = difference
  const { added_emails, changed_people, group_names } = difference
  const fields = Object.entries(changed_fields).map(([name, n]) => `${name} ${n}`)
  return [
    `${file}: ${counted(rows, 'row')}`,
    ...section('added', added, added_emails),
    ...section(
      fields.length > 0 ? `changed (${fields.join(', ')})` : 'changed',
      changed,
      changed_people.map((one) => `${one.email}: ${one.fields.join(', ')}`),
    ),
    ...section('unchanged', unchanged, []),
    ...section('groups made', groups_made, group_names),
    `  memberships: ${difference.memberships_added} added, ${difference.memberships_removed} removed`,
    dry_run
      ? 'Nothing was stored: this was a dry run. Run it without --dry-run to import the file.'
      : 'Imported.',
  ].join('\n')
}

function section(title: string, count: number, names: string[]): string[] {
  const more = count - names.length
  return [
    `  ${title}: ${count}`,
    // The author of the file chooses these names.
    ...names.map((name) => `    ${visible(name).replaceAll('\n', '\\n')}`),
    ...(names.length > 0 && more > 0 ? [`    and ${more} more`] : []),
  ]
}
