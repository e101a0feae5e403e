/** Writes recorded cases into a connector's folder, one after another. */
import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ifMissing } from '../../contract/errors/thrown.ts'
import type { ServedVersion } from '../../invoke/ports.ts'
import { putCase } from '../case-file.ts'
import { CASES_FILE, fileOf, readCases } from '../read-cases.ts'
import { judgeCase, type Stage } from '../run-case.ts'
import { caseOf } from './case-of.ts'
import { NotRecordable } from './played.ts'
import type { Recording } from './recorder.ts'

/** Maximum size of the file in a package, in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

/**
 * A written case, its place, and whether it replaced a case of the same name. `error` is the code that the
 * case expects, if its call ended in an error.
 */
export type WrittenCase = {
  name: string
  capability: string
  line: number
  replaces: boolean
  error: string | null
}

/**
 * Makes a case of a recording and writes it to the folder's file. It replaces a case of the same name.
 *
 * @throws NotRecordable if nothing was written. The message says what to do.
 */
export async function writeCase(
  folder: string,
  recording: Recording,
  { version, run }: { version: ServedVersion; run: Stage['run'] },
  name?: string,
): Promise<WrittenCase> {
  const file = path.join(folder, CASES_FILE)
  const before = await readOrNone(file)
  const read = fileOf(before ?? '[]')
  if ('unreadable' in read) throw new NotRecordable(`${CASES_FILE} ${read.unreadable}`)
  const { shared, cases } = read
  const { defaults = {} } = shared
  const stage = { version, run }
  const made = await caseOf(recording, stage, defaults, { name, cases, nowMs: Date.now() })
  const { text, line, replaces } = putCase(before, made)
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new NotRecordable(
      `${CASES_FILE} would have more than ${MAX_FILE_BYTES} bytes; remove cases from it`,
    )
  await holds(text, made.name, stage)
  // Atomically, because the file may be read at any time.
  const beside = `${file}.${randomUUID()}.part`
  await writeFile(beside, text)
  await rename(beside, file)
  const { error = made.pages?.at(-1)?.error } = made
  const { name: called, capability } = made
  return { name: called, capability, line, replaces, error: error?.error_code ?? null }
}

/**
 * Checks the case in its file.
 * @throws NotRecordable if it does not pass
 */
async function holds(text: string, name: string, stage: Stage): Promise<void> {
  const read = readCases(text)
  const written = 'unreadable' in read ? undefined : read.cases.findLast((one) => one.name === name)
  if (written === undefined)
    throw new NotRecordable('the recording does not fit into a case; write this case by hand')
  const { findings } = await judgeCase(written, stage)
  if (findings[0] !== undefined)
    throw new NotRecordable(`the replay differs: ${findings[0]}; write this case by hand`)
}

const readOrNone = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch(ifMissing(undefined))
