/** The files of scripts/deploy/ match Keyway: names, values, paths and times. */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig, SETTINGS } from '../runtime/config/config.ts'
import { CONNECTIONS_PER_HOST, MAX_CONNECTIONS_PER_HOST } from '../runtime/database/connections.ts'
import { PAGES, readPage } from './pages.ts'

const ROOT = path.join(import.meta.dirname, '..')
const FOLDER = path.join(ROOT, 'scripts', 'deploy')
const read = (name: string): string => readFileSync(path.join(FOLDER, name), 'utf8')

const unit = read('keyway.service')
const backup = read('keyway-backup.service')
const containerfile = read('Containerfile')

/** `NAME=value` after a word at the beginning of a line. */
const variables = (text: string, word: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(`^${word}(\\w+)=(.*)$`, 'gm'))].map(([, name, value]) => [
      name,
      value,
    ]),
  )

test.each([...readdirSync(FOLDER).map((name) => `scripts/deploy/${name}`), ...PAGES])(
  '%s names only settings that exist',
  (page) => {
    const named = readPage(page).match(/\b(KEYWAY_[A-Z_]*[A-Z]|DATABASE_URL)\b/g) ?? []
    expect(named.filter((one) => !Object.hasOwn(SETTINGS, one))).toEqual([])
  },
)

test.each([
  ['the unit', variables(unit, 'Environment=')],
  ['the unit of backups', variables(backup, 'Environment=')],
  ['the container', variables(containerfile, 'ENV ')],
])('the host accepts the settings of %s', (_of, { PATH: _path, ...set }) => {
  expect(Object.keys(set).filter((name) => !Object.hasOwn(SETTINGS, name))).toEqual([])
  expect(set).toHaveProperty('KEYWAY_DATA_DIR')
  expect(() => readConfig({ ...set, KEYWAY_CONNECTOR_TOKEN: 't'.repeat(32) })).not.toThrow()
})

test('the unit starts the command that the package contains', () => {
  const [, command = ''] =
    /^ExecStart=\S+ \S+\/node_modules\/keyway\/(\S+) start$/m.exec(unit) ?? []
  const { bin, files } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  expect(command).toBe(bin.keyway)
  expect(files).toContain(command)
})

test('the backup unit runs an existing command with the settings of the service unit', () => {
  const [, command = '', words = ''] =
    /^ExecStart=.*\/node_modules\/keyway\/(\S+) (\w+ --\w+) "\/var\/backups\/\S+\$\$\(date -u \+%%u\)\.tar\.gz"'$/m.exec(
      backup,
    ) ?? []
  expect([command, words]).toEqual(['runtime/cli/keyway.mjs', 'backup --force'])
  const of = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value)
  expect(of(unit, 'Environment')).toEqual(expect.arrayContaining(of(backup, 'Environment')))
  for (const name of ['User', 'Group', 'EnvironmentFile', 'UMask'])
    expect(of(backup, name), name).toEqual(of(unit, name))
})

const analyze = ['/usr/bin/systemd-analyze', '/bin/systemd-analyze'].find((file) =>
  existsSync(file),
)

test.skipIf(analyze === undefined)('systemd understands every line of the units', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'keyway-unit-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const units = ['keyway.service', 'keyway-backup.service', 'keyway-backup.timer']
  const files = units.map((name) => path.join(folder, name))
  // Keyway is not installed at the path of the units: another program replaces it.
  for (const [index, name] of units.entries())
    await writeFile(
      files[index] ?? '',
      read(name).replace(/^ExecStart=\/opt\S+/m, `ExecStart=${process.execPath}`),
    )
  const { stdout, stderr } = spawnSync(analyze as string, ['verify', '--man=no', ...files], {
    encoding: 'utf8',
  })
  // The output also mentions other units of the machine.
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('keyway'))
  expect(said).toEqual([])
})

test('the final image runs as an unprivileged user and contains no build tools', () => {
  const last = containerfile.slice(containerfile.lastIndexOf('\nFROM '))
  const instructions = last.replace(/^#.*$/gm, '')
  expect(instructions).not.toMatch(/\bnpm\b|build-essential|gcc|node:/)
  expect(instructions).toMatch(/^USER [1-9][0-9]+:[1-9][0-9]+$/m)
})

test('the health check of the container passes only if the host answers 200', async () => {
  const [, command = ''] = /^ {2}CMD (\[.*\])$/m.exec(containerfile) ?? []
  const [, ...args] = JSON.parse(command) as [string, ...string[]]
  let status = 200
  const server = createServer(({ url }, response) => {
    response.writeHead(url === '/healthz' ? status : 404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const env = { PORT: String((server.address() as AddressInfo).port) }
  const check = () =>
    new Promise<number | null>((resolve) => {
      execFile(process.execPath, args, { env }, (error) =>
        resolve(error === null ? 0 : Number(error.code)),
      )
    })
  expect(await check()).toBe(0)
  status = 503
  expect(await check()).toBe(1)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(await check()).toBe(1)
})

test.each([
  ['nginx.conf', /^ *proxy_(?:read|send)_timeout (\d+)s;$/gm],
  ['haproxy.cfg', /^ *timeout (?:client|server) (\d+)s$/gm],
])('%s waits longer than the longest call', (name, pattern) => {
  const waits = [...read(name).matchAll(pattern)].map(([, seconds]) => Number(seconds) * 1000)
  expect(waits.length).toBeGreaterThan(1)
  expect(Math.min(...waits)).toBeGreaterThan(readConfig({}).ceilings.maxDeadlineMs)
})

test('the page states the number of connections of one host and of several hosts', () => {
  const words = readPage('runtime/docs/operate/several-hosts.md').replaceAll(/\s+/g, ' ')
  const { pool, listening, watching } = CONNECTIONS_PER_HOST
  for (const said of [
    `A host uses up to ${MAX_CONNECTIONS_PER_HOST} connections to PostgreSQL: ${pool} to work, ${listening} to listen, ${watching} to watch`,
    `must be ${MAX_CONNECTIONS_PER_HOST} for each host and 3`,
    `${2 * MAX_CONNECTIONS_PER_HOST + 3} for two hosts, ${3 * MAX_CONNECTIONS_PER_HOST + 3} for three`,
    `\`default_pool_size\` must be ${MAX_CONNECTIONS_PER_HOST} for each host`,
  ])
    expect(words).toContain(said)
  expect(Math.floor((100 - 3) / MAX_CONNECTIONS_PER_HOST)).toBe(3)
  expect(readPage('runtime/docs/operate/troubleshooting.md')).toContain(
    `${MAX_CONNECTIONS_PER_HOST} for each host`,
  )
})
