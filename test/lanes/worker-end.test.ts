/** Why a worker ended, as the host reports it: memory is told apart from other deaths. */
import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import type { Launcher } from '../../runtime/lanes/launch.ts'
import { startWorker, type WorkerEnd, type WorkerLink } from '../../runtime/lanes/worker-link.ts'

const FULL = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'
const said = (text: string) => `echo '${text}' >&2`
/** A trace after the error, longer than what is kept. */
const TRACE =
  'i=0; while [ $i -lt 200 ]; do echo " $i: 0x0123456789abcdef a function [node]" >&2; i=$((i+1)); done'

/** Runs a script in place of a worker, until it ends. `then` is called once it has written an error. */
function ends(script: string, then: (link: WorkerLink) => void = () => {}): Promise<WorkerEnd> {
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  const pipe = child.stdout
  // Node's type is that of a readable stream; a pipe to a child is a socket.
  if (!(pipe instanceof Duplex)) throw new Error('the pipe to the worker is not a socket')
  const launcher: Pick<Launcher, 'start'> = { start: () => ({ process: child, pipe }) }
  return new Promise((resolve) => {
    // The cast: only this part is used.
    const link = startWorker(launcher as Launcher, () => {}, resolve)
    child.stderr.once('data', () => then(link))
  })
}

test.each([
  ['an error followed by a long trace', `${said(FULL)}; ${TRACE}; kill -ABRT $$`],
  ['an allocation that fails in C++', `${said('what():  std::bad_alloc')}; kill -ABRT $$`],
  ['a pipe that closes long before the end', `${said(FULL)}; exec 1>&-; sleep 60`],
])('a worker is out of memory after %s', async (_how, script) => {
  expect((await ends(script)).reason).toBe('memory')
})

test.each(['stalled', 'crashed', 'killed', 'protocol'] as const)(
  'a worker that has reported the end of its memory and is killed as %s is out of memory',
  async (reason) => {
    const end = await ends(`${said(FULL)}; sleep 60`, (link) => link.kill(reason, 'too late'))
    expect(end).toEqual({ reason: 'memory', detail: `too late ${FULL}` })
  },
)

test.each([
  ['stopped', `${said(FULL)}; sleep 60`, 'stopped'],
  [
    'stalled',
    `${said('FATAL ERROR: Script failed to terminate, out of memory')}; sleep 60`,
    'stalled',
  ],
  ['stalled', `${said('a warning')}; sleep 60`, 'stalled'],
] as const)('a worker killed as %s after `%s` ended as %s', async (reason, script, expected) => {
  expect((await ends(script, (link) => link.kill(reason, ''))).reason).toBe(expected)
})

test.each([
  ['exec 1>&-; sleep 60', 'protocol'],
  ['exit 1', 'crashed'],
  ['kill -KILL $$', 'killed'],
  [`${said('failed to terminate')}; ${TRACE}; ${said('out of memory')}; kill -ABRT $$`, 'crashed'],
])('the end of `%s` is %s', async (script, reason) => {
  expect((await ends(script)).reason).toBe(reason)
})
