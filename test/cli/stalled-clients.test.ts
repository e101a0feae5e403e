import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { endStalled, STALL_LIMITS } from '../../runtime/cli/stalled-clients.ts'

const REPLY_BYTES = 32 * 1024 * 1024
const open: { close(): unknown }[] = []

afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

async function serve(
  limits: Partial<typeof STALL_LIMITS>,
): Promise<{ port: number; server: Server }> {
  const server = createServer((_request, response) => response.end(Buffer.alloc(REPLY_BYTES)))
  const stop = endStalled(server, { ...STALL_LIMITS, sweepMs: 20, ...limits })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({ close: stop }, { close: () => server.closeAllConnections() }, server)
  return { port: (server.address() as AddressInfo).port, server }
}

/** A client that sends a request and does not read the answer. */
async function ask(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return socket
}

const connections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_error, count) => resolve(count)))

async function untilGone(server: Server): Promise<void> {
  while ((await connections(server)) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('ends a connection whose client does not read the answer', async () => {
  const { port, server } = await serve({ stallMs: 100 })
  await ask(port)
  await untilGone(server)
})

test('ends a connection when the unsent data exceeds the limit', async () => {
  const { port, server } = await serve({ maxUnsentBytes: REPLY_BYTES / 2 })
  await ask(port)
  await untilGone(server)
})

test('keeps the connection of a slow client that goes on reading', async () => {
  const stallMs = 1000
  const { port } = await serve({ stallMs })
  const socket = await ask(port)
  let taken = 0
  socket.on('data', (chunk: Buffer) => {
    taken += chunk.length
  })
  // Reads piece by piece for longer than the stall limit, then the rest.
  for (const begunMs = performance.now(); performance.now() < begunMs + 2 * stallMs; ) {
    socket.once('data', () => socket.pause())
    socket.resume()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(taken).toBeLessThan(REPLY_BYTES)
  socket.resume()
  while (taken < REPLY_BYTES && !socket.destroyed)
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(taken).toBeGreaterThan(REPLY_BYTES)
})
