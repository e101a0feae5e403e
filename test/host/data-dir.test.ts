import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDataDir } from '../../runtime/host/data-dir.ts'

const home = mkdtempSync(path.join(tmpdir(), 'keyway-data-dir-'))
chmodSync(home, 0o755)
afterAll(() => rmSync(home, { recursive: true, force: true }))

const why = (dataDir: string) =>
  openDataDir(dataDir).then(
    () => null,
    ({ message }) => message,
  )

test('a missing directory is created, and an existing one is used', async () => {
  const dataDir = path.join(home, 'a/b')
  expect(await why(dataDir)).toBeNull()
  writeFileSync(path.join(dataDir, 'secret'), 'x')
  expect(await why(dataDir)).toBeNull()
})

test('a file in its place, or in its path, is refused and named', async () => {
  const file = path.join(home, 'file')
  writeFileSync(file, '')
  for (const dataDir of [file, path.join(file, 'data')])
    expect(await why(dataDir)).toBe(
      `KEYWAY_DATA_DIR: ${file} is a file, not a directory; remove it, or name another directory`,
    )
})

/** Runs as an unprivileged user: root, as which the tests may run, may access everything. */
function asNobody(dataDir: string): string {
  const source = path.join(import.meta.dirname, '../../runtime/host/data-dir.ts')
  // Loaded before it drops its privileges, since the unprivileged user may not be able to read the sources.
  const code = `const { openDataDir } = await import(${JSON.stringify(source)})
    process.setgroups([]); process.setgid(65534); process.setuid(65534)
    await openDataDir(${JSON.stringify(dataDir)}).then(() => console.log('fine'), (e) => console.log(e.message))`
  return spawnSync(process.execPath, ['--input-type=module', '-e', code]).stdout.toString().trim()
}

test.runIf(process.getuid?.() === 0)(
  'another user’s directory, or file in it, is reported with its owner',
  () => {
    const foreign = path.join(home, 'foreign')
    mkdirSync(foreign, { mode: 0o700 })
    const words = (at: string) =>
      `KEYWAY_DATA_DIR: ${at} belongs to user 0, and this runs as user 65534, who may not use it; run it as user 0, give it away (\`chown -R 65534 ${at}\`), or name another directory`
    expect(asNobody(foreign)).toBe(words(foreign))
    expect(asNobody(path.join(home, 'new'))).toBe(words(home))
    chmodSync(foreign, 0o777)
    writeFileSync(path.join(foreign, 'secret'), 'x', { mode: 0o600 })
    expect(asNobody(foreign)).toBe(words(path.join(foreign, 'secret')))
  },
)

test.runIf(process.getuid?.() === 0)(
  'the message for a directory that refuses its own owner suggests chmod, not chown',
  () => {
    const closed = path.join(home, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o500)
    chownSync(closed, 65534, 65534)
    expect(asNobody(path.join(closed, 'data'))).toBe(
      `KEYWAY_DATA_DIR: ${closed} belongs to user 65534, who this runs as, and refuses it all the same (EACCES); allow it (\`chmod u+rwX ${closed}\`), or name another directory`,
    )
  },
)

test.runIf(process.platform === 'linux')(
  'a path where nothing can be created is refused without endless retries',
  async () => {
    expect(await why('/proc/keyway/data')).toMatch(
      /^KEYWAY_DATA_DIR: \/proc\/keyway\/data cannot be used: ENOENT.*; name another directory$/,
    )
  },
)
