/** The descendants of a process. A run of attacks looks twenty times a second, and caches unrelated ones. */
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { familyOf } from '../../runtime/verify/processes.ts'
import { until } from '../e2e/until.ts'
import { afterThisTest } from '../kit/closing.ts'

const start = (script: string): number => {
  const child = spawn('sh', ['-c', script], { detached: true })
  const pid = child.pid ?? 0
  afterThisTest(() => process.kill(-pid, 'SIGKILL'))
  return pid
}
const below = (pid: number) => familyOf(pid).map((one) => one.pid)

test.runIf(process.platform === 'linux')(
  'a process is found with its descendants, including later ones, and with no other process',
  async () => {
    const other = start('sleep 60; true')
    const first = start('sleep 60 & sleep 60; true')
    await until('its children have started', () => below(first).length === 3)
    expect(below(first)).not.toContain(other)
    expect(below(process.pid)).toEqual(expect.arrayContaining([other, ...below(first)]))
    const late = start('sleep 60; true')
    await until('the later child has started', () => below(process.pid).includes(late))
    expect(below(late)[0]).toBe(late)
  },
)
