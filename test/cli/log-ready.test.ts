/** The log lines of a server that has become ready. */
import { expect, test } from 'vitest'
import { tellReady } from '../../runtime/cli/log-ready.ts'
import { createLog } from '../../runtime/observe/log.ts'

function linesFor(connectors: string[]): object[] {
  const lines: string[] = []
  tellReady(connectors, createLog('info', { write: (line) => void lines.push(line) }))
  return lines.map((line) => JSON.parse(line))
}

test('a server that is ready names its connectors', () => {
  expect(linesFor(['acme'])).toMatchObject([{ level: 30, msg: 'ready', connectors: ['acme'] }])
})

test('a server without connectors logs an error that says where to look', () => {
  expect(linesFor([])).toMatchObject([
    { level: 30, msg: 'ready', connectors: [] },
    { level: 50, msg: expect.stringMatching(/^no connector is served: .*keyway list/) },
  ])
})
