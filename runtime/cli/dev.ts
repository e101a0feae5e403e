/**
 * `keyway dev`: runs a host with one connector in its real sandbox. Reloads and checks the connector at every
 * change, and shows each call, each request to the third-party system and each line that the connector logs.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readConfig } from '../config/config.ts'
import { TYPES_FILE } from '../contract/connector/connector-types.ts'
import type { Host } from '../main.ts'
import { createLog } from '../observe/log.ts'
import { visible } from '../observe/visible.ts'
import { type CheckBench, openCheckBench } from '../testing/check-connector.ts'
import { createLatest } from './combined-runs.ts'
import { callLines, changeLines, checkLines, createChanges } from './dev-lines.ts'
import { afterTypes } from './dev-types.ts'
import { openFolderHost } from './folder-host.ts'
import { recordedLine, recordInto } from './recording.ts'
import { listen, stopOnSignal } from './serve.ts'
import { refreshTypes } from './types-file.ts'

type DevFlags = { record?: true }

/**
 * A different port than the server's, so that both can run at the same time. The log level leaves the output
 * to the command's own lines.
 */
const DEFAULTS = { PORT: '8081', KEYWAY_LOG_LEVEL: 'error' }

/** Runs until a signal. */
export async function dev(directory: string, { record }: DevFlags): Promise<void> {
  const folder = path.resolve(directory)
  const config = readConfig({ ...DEFAULTS, ...process.env })
  const log = createLog(config.logLevel)
  let bench: Promise<CheckBench> | null = null
  let served: Host | null = null
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
      () => (served?.registry.checking ?? 0) > 0,
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
  served = host
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
  // `keyway call` would need an operator's token.
  say(`    curl -H 'content-type: application/json' -d @call.json ${connector}/list_accounts`)
  say('    with {"auth": ..., "settings": ..., "request": {}} in call.json')
  if (record) say('each call is recorded as a case in connector.cases.json, without its secrets')
}

/** Returns the connector's id from its manifest, or else the name of its folder. */
async function idOf(folder: string): Promise<string> {
  try {
    const { id } = JSON.parse(await readFile(path.join(folder, 'connector.json'), 'utf8'))
    return typeof id === 'string' ? id : path.basename(folder)
  } catch {
    // The check reports what is wrong with the manifest.
    return path.basename(folder)
  }
}

/** Updates connector.types.ts. Reports whether it was written because its content had changed. */
async function writeTypes(folder: string): Promise<boolean> {
  const outcome = await refreshTypes(folder).catch((error: Error) =>
    say(`${TYPES_FILE} is not up to date: ${error.message}`),
  )
  if (outcome === 'written') say(`${TYPES_FILE}: written from connector.json`)
  return outcome === 'written'
}

/** Returns a line for every finding, with its case and line. */
const checkFolder = async (bench: CheckBench, folder: string): Promise<string[]> =>
  checkLines(await bench.check(folder), path.relative(process.cwd(), folder))

/** For example, the folder changed while it was read. The next change is checked again. */
const notChecked = ({ message }: Error): string[] => [`check: it could not be checked: ${message}`]

function say(text: string): void {
  console.log(`${new Date().toTimeString().slice(0, 8)}  ${visible(text)}`)
}
