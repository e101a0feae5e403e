/**
 * `keyway dev`: a host with one connector in its real sandbox. Reloads at every change and shows each
 * call, each request to the third-party system and each line that the connector logs.
 */
import { mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { BUILT_IN_DIR, type Config, ConfigError, readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { createHost } from '../main.ts'
import { openCheckBench } from '../testing/check-connector.ts'
import { listen, stopOnSignal } from './serve.ts'

export async function dev(directory: string): Promise<void> {
  const folder = path.resolve(directory)
  if (!(await isDirectory(folder))) throw new ConfigError(`there is no folder ${folder}`)
  const settings = readConfig({ KEYWAY_LOG_LEVEL: 'warn', ...process.env })
  // The watched directory holds nothing but a link to the folder: its neighbours are not its business.
  const plugins = await mkdtemp(path.join(tmpdir(), 'keyway-dev-'))
  const leave = () => rm(plugins, { recursive: true, force: true })
  // A built-in connector is watched where it lies.
  if (path.dirname(folder) !== BUILT_IN_DIR)
    await symlink(folder, path.join(plugins, path.basename(folder)), 'dir')
  try {
    await serve(folder, { ...settings, pluginDirs: [plugins], dropIn: 'open' }, leave)
  } catch (error) {
    await leave()
    throw error
  }
}

/** Runs until a signal; `leave` tidies up then. */
async function serve(folder: string, config: Config, leave: () => Promise<void>): Promise<void> {
  const log = createLog(config.logLevel)
  const host = await createHost(config, log, {
    onChange: ({ id, version, state, reason, serving }) =>
      say(
        serving
          ? `${id} ${version} is served`
          : `${id ?? path.basename(folder)} is ${state}: ${reason ?? ''}`,
      ),
    onCall: (connector, capability, code, ms) =>
      say(`${connector} ${capability} → ${code} in ${ms.toFixed(1)} ms`),
    onUpstream: (_connector, _capability, { method, host: name, path: at, status, error, ms }) =>
      say(`    ${method} ${name}${at} → ${status ?? error} in ${ms.toFixed(1)} ms`),
    onLog: ({ level, message, fields }) =>
      say(`    ${level}: ${message} ${fields === null ? '' : JSON.stringify(fields)}`),
  })
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
        ? `check: ok, ${passed.length} cases passed`
        : `check: ${findings.length} findings; run keyway check`,
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
