/** Every connector that the runtime ships, and each template, passes the check that authors run. */
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TEMPLATES } from '../../runtime/cli/templates.ts'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { trackedConnectors } from '../../scripts/tracked.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')
const templates = Object.values(TEMPLATES).map(({ folder }) =>
  path.join(ROOT, 'plugin-template', folder),
)
const folders = [...trackedConnectors(), ...templates]

let bench: CheckBench

beforeAll(async () => {
  bench = await openCheckBench()
})
afterAll(async () => {
  await bench?.close()
})

test.each(folders.map((folder) => [path.relative(ROOT, folder), folder]))(
  '%s passes its check',
  async (_name, folder) => {
    const { ok, findings, passed } = await bench.check(folder)
    expect(findings.map(({ where, message }) => `${where}: ${message}`)).toEqual([])
    expect(ok).toBe(true)
    expect(passed.length).toBeGreaterThan(0)
  },
)
