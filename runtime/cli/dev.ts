/**
 * `keyway dev`: a host with one connector in its real sandbox. Reloads at every change and shows each
 * call, each request to the third-party system and each line that the connector logs.
 */
import { mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Config, ConfigError, readConfig } from '../config.ts'
import { TYPES_FILE } from '../contract/connector-types.ts'
import { createLog } from '../log.ts'
import { createHost } from '../main.ts'
import { openCheckBench } from '../testing/check-connector.ts'
import { counted } from './counted.ts'
import { callLines, changeLines, createChanges } from './dev-lines.ts'
import { listen, stopOnSignal } from './serve.ts'
import { refreshTypes } from './types-file.ts'

/** Not the server's own port: both run beside each other. Its lines are the command's own. */
const DEFAULTS = { PORT: '8081', KEYWAY_LOG_LEVEL: 'error' }

export async function dev(directory: string): Promise<void> {
  const folder = path.resolve(directory)
  if (!(await isDirectory(folder))) throw new ConfigError(`no such folder: ${folder}`)
  const config = readConfig({ ...DEFAULTS, ...process.env })
  // The watched directory holds nothing but a link to the folder: its neighbours are not its business.
  const plugins = await mkdtemp(path.join(tmpdir(), 'keyway-dev-'))
  const leave = () => rm(plugins, { recursive: true, force: true })
  await symlink(folder, path.join(plugins, path.basename(folder)), 'dir')
  try {
    await serve(folder, plugins, { ...config, dropIn: 'open' }, leave)
  } catch (error) {
    await leave()
    throw error
  }
}

/** Runs until a signal; `leave` tidies up then. */
async function serve(
  folder: string,
  plugins: string,
  config: Config,
  leave: () => Promise<void>,
): Promise<void> {
  const log = createLog(config.logLevel)
  const changes = createChanges((rows) => {
    changeLines(path.basename(folder), rows).map(say)
    void refreshTypes(folder).then(
      (outcome) => outcome === 'written' && say(`${TYPES_FILE}: written from connector.json`),
      (error: Error) => say(`${TYPES_FILE} is not up to date: ${error.message}`),
    )
  })
  const host = await createHost(
    config,
    log,
    {
      onChange: changes,
      onCall: (call) => callLines(call).map(say),
      onUpstream: (_connector, _capability, { method, host: name, path: at, status, error, ms }) =>
        say(`    ${method} ${name}${at} → ${status ?? error} in ${ms.toFixed(1)} ms`),
      onLog: ({ level, message, fields }) =>
        say(`    ${level}: ${message} ${fields === null ? '' : JSON.stringify(fields)}`.trimEnd()),
    },
    { only: plugins, database: 'none' },
  )
  const listening = await listen(host, config)
  stopOnSignal(log, async () => {
    await listening.stop()
    await leave()
  })
  await host.settled
  say(`${folder} is watched; call it at ${listening.url}${config.connectorsPath}/<id>/<capability>`)
  await runCases(folder)
}

/** The cases once, at the start: `keyway check` says more. */
async function runCases(folder: string): Promise<void> {
  const bench = await openCheckBench()
  try {
    const { ok, passed, findings } = await bench.check(folder)
    say(
      ok
        ? `check: ok, ${counted(passed.length, 'case')} passed`
        : `check: ${counted(findings.length, 'finding')}; run npx keyway check ${path.relative(process.cwd(), folder) || '.'}`,
    )
  } finally {
    await bench.close()
  }
}

async function isDirectory(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

function say(text: string): void {
  console.log(`${new Date().toTimeString().slice(0, 8)}  ${text}`)
}
