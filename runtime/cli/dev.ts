/**
 * `keyway dev`: a host with one connector in its real sandbox. Reloads and checks it at every change, and
 * shows each call, each request to the third-party system and each line that the connector logs.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readConfig } from '../config/config.ts'
import { TYPES_FILE } from '../contract/connector/connector-types.ts'
import { createLog } from '../observe/log.ts'
import { visible } from '../observe/visible.ts'
import { type CheckBench, openCheckBench } from '../testing/check-connector.ts'
import { callLines, changeLines, checkLines, createChanges } from './dev-lines.ts'
import { afterTypes } from './dev-types.ts'
import { openFolderHost } from './folder-host.ts'
import { createLatest } from './latest.ts'
import { recordedLine, recordInto } from './recording.ts'
import { listen, stopOnSignal } from './serve.ts'
import { refreshTypes } from './types-file.ts'

type DevFlags = { record?: true }

/** Not the server's own port: both run beside each other. Its lines are the command's own. */
const DEFAULTS = { PORT: '8081', KEYWAY_LOG_LEVEL: 'error' }

/** Runs until a signal. */
export async function dev(directory: string, { record }: DevFlags): Promise<void> {
  const folder = path.resolve(directory)
  const config = readConfig({ ...DEFAULTS, ...process.env })
  const log = createLog(config.logLevel)
  let bench: Promise<CheckBench> | null = null
  const checks = createLatest(async () => {
    bench ??= openCheckBench()
    const told = await bench.then((one) => checkFolder(one, folder)).catch(notChecked)
    told.map(say)
  })
  const changes = createChanges(
    afterTypes(
      () => writeTypes(folder),
      (rows) => {
        changeLines(path.basename(folder), rows).map(say)
        checks.again()
      },
    ),
  )
  const recording = record
    ? recordInto(folder, (one) => say(`    ${recordedLine(one)}`))
    : undefined
  const { host, leave } = await openFolderHost(
    folder,
    config,
    log,
    {
      onChange: changes,
      onCall: (call) => callLines(call).map(say),
      onUpstream: (
        _connector,
        _capability,
        { method, host: name, path: at, query, status, error, ms },
      ) => say(`    ${method} ${name}${at}${query} → ${status ?? error} in ${ms.toFixed(1)} ms`),
      onLog: ({ level, message, fields }) =>
        say(`    ${level}: ${message} ${fields === null ? '' : JSON.stringify(fields)}`.trimEnd()),
    },
    recording,
  )
  recording?.use(host)
  const tidy = async () => {
    await checks.stop()
    await (await bench)?.close()
    await leave()
  }
  const listening = await listen(host, config).catch(async (error: unknown) => {
    await host.stop()
    await tidy()
    throw error
  })
  stopOnSignal(log, async () => {
    await listening.stop()
    await recording?.idle()
    await tidy()
  })
  await host.settled
  const connector = `${listening.url}${config.connectorsPath}/${await idOf(folder)}`
  say(`${folder} is watched; call it at ${connector}/<capability>, such as:`)
  // `keyway call` would need the token of an operator.
  say(`    curl -H 'content-type: application/json' -d @call.json ${connector}/list_accounts`)
  say('    with {"auth": ..., "settings": ..., "request": {}} in call.json')
  if (record) say('each call becomes a case of connector.cases.json, without its secrets')
}

/** The connector's id, as its manifest says it; else its folder's name. */
async function idOf(folder: string): Promise<string> {
  try {
    const { id } = JSON.parse(await readFile(path.join(folder, 'connector.json'), 'utf8'))
    return typeof id === 'string' ? id : path.basename(folder)
  } catch {
    // What is wrong with the manifest is told by its check.
    return path.basename(folder)
  }
}

/** Whether connector.types.ts was written: what it says had changed. */
async function writeTypes(folder: string): Promise<boolean> {
  const outcome = await refreshTypes(folder).catch((error: Error) =>
    say(`${TYPES_FILE} is not up to date: ${error.message}`),
  )
  if (outcome === 'written') say(`${TYPES_FILE}: written from connector.json`)
  return outcome === 'written'
}

/** Every finding, each with the case and the line that it is about. */
const checkFolder = async (bench: CheckBench, folder: string): Promise<string[]> =>
  checkLines(await bench.check(folder), path.relative(process.cwd(), folder))

/** A folder that is changed while it is read, for example: the next change is checked again. */
const notChecked = ({ message }: Error): string[] => [`check: it could not be checked: ${message}`]

function say(text: string): void {
  console.log(`${new Date().toTimeString().slice(0, 8)}  ${visible(text)}`)
}
