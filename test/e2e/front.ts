/**
 * A TCP proxy in front of hosts: forwards connections to one of them, or answers as a proxy does for an
 * unavailable one.
 */
import { connect, createServer, type Socket } from 'node:net'

export type Front = {
  port: number
  /**
   * Sets the target of connections: a port, or null, which is answered with 503. Existing connections end.
   */
  lead(to: number | null): void
  close(): Promise<void>
}

const AWAY = 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'

export async function startFront(first: number): Promise<Front> {
  const sockets = new Set<Socket>()
  let target: number | null = first
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // Either end may close at any time, which is what the tests exercise.
    socket.on('error', () => socket.destroy())
  }
  const server = createServer((socket) => {
    keep(socket)
    if (target === null) return void socket.once('data', () => socket.end(AWAY))
    const upstream = connect(target, '127.0.0.1')
    keep(upstream)
    socket.pipe(upstream).pipe(socket)
    upstream.once('close', () => socket.destroy())
    socket.once('close', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('the front proxy has no port')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: address.port,
    lead(to) {
      target = to
      cut()
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
}
