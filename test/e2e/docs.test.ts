/** Runs the commands of the documentation as written: page by page, on one host with the sample company. */
import { execFile, spawnSync } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { withFirstStart } from '../kit/template.ts'
import { blocksOf } from '../pages.ts'
import { RUN_HERE } from '../run-blocks.ts'
import { begin, type Command, KEYWAY, newHome, ROOT, stopCommands } from './command.ts'

const hasCurl = spawnSync('curl', ['--version']).error === undefined

let home: string
let host: Command
let url: string
let sampleUrl: string

beforeAll(async () => {
  home = await newHome()
  const port = await freePort()
  host = begin(['start', '--sample', '--sample-port', String(port)], {
    cwd: home,
    env: { PORT: '0', KEYWAY_DATA_DIR: await withFirstStart(path.join(home, 'data')) },
  })
  const [, origin = ''] = await host.prints(/"url":"([^"]+)"/)
  url = origin
  sampleUrl = `http://127.0.0.1:${port}`
  await host.prints(/"msg":"ready"/)
  const npx = path.join(home, 'npx')
  await writeFile(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${KEYWAY}" "$@"\n`)
  await chmod(npx, 0o755)
  await mkdir(path.join(home, 'backups'))
  await copyFile(path.join(ROOT, 'test/fixtures/readme/people.csv'), path.join(home, 'people.csv'))
})
afterAll(stopCommands)

/** The pages in the order of RUN_HERE, with their blocks. */
const pages = Map.groupBy(Object.entries(RUN_HERE), ([key]) => key.slice(0, key.indexOf(':')))

/** Runs a script as a person would paste it, with the addresses of this run. */
async function pasted(script: string, more: Record<string, string> = {}): Promise<string> {
  const here = script
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('http://127.0.0.1:8090', sampleUrl)
    .replaceAll('/backups/', `${path.join(home, 'backups')}/`)
  const { stdout } = await promisify(execFile)('sh', ['-ec', here], {
    cwd: home,
    env: {
      ...process.env,
      PATH: `${home}:${process.env['PATH']}`,
      PORT: new URL(url).port,
      ...more,
    },
    timeout: 100_000,
  })
  return stdout
}

/** The blocks of a page that are run here, in order. */
function blocksHere(page: string, begins: readonly string[]): string[] {
  const firsts = begins.map((key) => key.slice(page.length + 2))
  return blocksOf(page)
    .map(({ text }) => text)
    .filter((text) => firsts.some((first) => text.startsWith(first)))
}

describe.skipIf(!hasCurl)(`the commands${hasCurl ? '' : ' (needs curl)'}`, () => {
  // Waits for the sample's own initial syncs: an app has one at a time.
  beforeAll(() => pasted('while npx keyway syncs | grep -q RUNNING; do sleep 1; done'), 60_000)

  const live = [...pages].filter(([page]) => page !== 'runtime/docs/operate/backup.md')

  test.each(live)(
    'of %s do what the page says',
    async (page, entries) => {
      const blocks = blocksHere(
        page,
        entries.map(([key]) => key),
      )
      expect(blocks).toHaveLength(entries.length)
      const out = await pasted(blocks.join('\n'))
      for (const [, printed] of entries) expect(out).toMatch(printed)
    },
    120_000,
  )

  test('back up while the host runs, and restore into another data directory', async () => {
    const [save = '', restore = ''] = blocksHere(
      'runtime/docs/operate/backup.md',
      (pages.get('runtime/docs/operate/backup.md') ?? []).map(([key]) => key),
    )
    const data = path.join(home, 'data')
    expect(await pasted(save, { KEYWAY_DATA_DIR: data })).toMatch(/keyway\.tar\.gz/)
    const secret = (await readFile(path.join(data, 'secret'), 'utf8')).trim()
    const restored = path.join(home, 'restored')
    const out = await pasted(restore, { KEYWAY_DATA_DIR: restored, KEYWAY_SECRET: secret })
    expect(out).toMatch(/restored/i)
  })
})
