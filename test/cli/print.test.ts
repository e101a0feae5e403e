/** What commands print of what others wrote. */
import { afterEach, expect, test, vi } from 'vitest'
import { print } from '../../runtime/cli/operator/change.ts'

afterEach(() => vi.restoreAllMocks())

test.each([{ json: true as const }, {}])(
  'nothing in it does anything to a terminal (%o)',
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
