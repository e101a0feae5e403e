/** Commands print untrusted text. */
import { globSync, readFileSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { print } from '../../runtime/cli/operator/change.ts'

afterEach(() => vi.restoreAllMocks())

test.each([{ json: true as const }, {}])(
  'control characters are escaped in the output (%o)',
  (flags) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const name = 'Acme\u001b[2J\u009b2J\u202e\u2066'
    print(flags, { name }, (answer) => answer.name)
    const [[printed] = []] = log.mock.calls
    expect(printed).not.toMatch(/[\u001b\u009b\u202e\u2066]/)
    expect(printed).toContain('\\u009b2J')
    if ('json' in flags) expect(JSON.parse(printed)).toEqual({ name })
  },
)

/** Sources that may indent JSON: two that write files, and the function that escapes. */
const TO_FILES = ['runtime/cli/publish.ts', 'runtime/cli/sign.ts', 'runtime/cli/terminal/json.ts']

test('commands print JSON only through the function that escapes control characters', () => {
  const files = globSync('runtime/cli/**/*.ts')
  expect(files.length).toBeGreaterThan(50)
  const indenting = files.filter((file) =>
    /JSON\.stringify\([^;]*?,\s*null,/.test(readFileSync(file, 'utf8')),
  )
  expect(indenting.sort()).toEqual(TO_FILES)
  const printing = files.filter((file) =>
    /console\.log\(\s*JSON\.stringify/.test(readFileSync(file, 'utf8')),
  )
  expect(printing).toEqual([])
})
