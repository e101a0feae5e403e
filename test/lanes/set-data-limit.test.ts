import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { createSetDataLimit } from '../../runtime/lanes/set-data-limit.ts'
import { eventually } from '../kit/eventually.ts'

const PRLIMIT = '/usr/bin/prlimit'
const isThere = (() => {
  try {
    accessSync(PRLIMIT)
    return true
  } catch {
    return false
  }
})()

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

function sleeper(): number {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  running.push(child)
  return child.pid as number
}

/** The soft and the hard limit of a process. */
const limitsOf = (pid: number) =>
  /Max data size +(\S+) +(\S+)/.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.slice(1)

/** The child shells of this process that set limits. */
const shells = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        return parent === process.pid && command.includes('--data=$bytes')
      } catch {
        // The process has ended.
        return false
      }
    })

describe.runIf(isThere)('the data limit of a process', () => {
  test('is set as the soft limit only, for several processes at once, by one shell', async () => {
    const before = shells().length
    const set = createSetDataLimit(PRLIMIT)
    const pids = [sleeper(), sleeper(), sleeper()]
    await Promise.all(pids.map((pid, index) => set(pid, (index + 1) * 2 ** 30)))
    expect(pids.map(limitsOf)).toEqual([1, 2, 3].map((n) => [String(n * 2 ** 30), 'unlimited']))
    await set(pids[0] as number, 4 * 2 ** 30)
    expect(limitsOf(pids[0] as number)).toEqual([String(4 * 2 ** 30), 'unlimited'])
    expect(shells().length - before).toBe(1)
  })

  test('is refused for a process that is gone, and the next one is set', async () => {
    const set = createSetDataLimit(PRLIMIT)
    const pid = sleeper()
    await expect(set(2 ** 22 + 1, 2 ** 30)).rejects.toThrow('prlimit: 1')
    await set(pid, 2 ** 30)
    expect(limitsOf(pid)).toEqual([String(2 ** 30), 'unlimited'])
  })

  test('is set by a new shell after the first was killed', async () => {
    const others = shells()
    const set = createSetDataLimit(PRLIMIT)
    const pid = sleeper()
    await set(pid, 2 ** 30)
    for (const shell of shells().filter((one) => !others.includes(one)))
      process.kill(shell, 'SIGKILL')
    await eventually(async () =>
      expect(await set(pid, 2 ** 31).then(() => limitsOf(pid))).toEqual([
        String(2 ** 31),
        'unlimited',
      ]),
    )
  })
})

test('setting a limit fails where prlimit does not exist', async () => {
  const set = createSetDataLimit('/nowhere/prlimit')
  await expect(set(1, 2 ** 30)).rejects.toThrow('prlimit: 127')
})
