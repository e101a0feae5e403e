/**
 * A fast path in front of node:http: plain capability calls are parsed and answered directly on the socket, all other
 * requests are handed on. This avoids the cost of node:http and its adapter for each call.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type ConnectionDeps, type FrontConnection, serveConnection } from './connection.ts'
import type { FrontCalls } from './plain-calls.ts'

/** Interval of the timeout check, in milliseconds. */
const SWEEP_MS = 1000

export type Front = {
  /** Closes the connections without a call in flight. */
  endIdle(): void
  /** Closes all connections. */
  stop(): void
}

/** Takes over the new connections of a server. Call it before the server listens. */
export function interceptConnections(server: Server, calls: FrontCalls): Front {
  const theirs = server.listeners('connection')
  server.removeAllListeners('connection')
  const connections = new Set<FrontConnection>()
  const deps: ConnectionDeps = {
    ...calls,
    get keepAliveMs() {
      return server.keepAliveTimeout
    },
    handOver: (socket) => {
      for (const listener of theirs) listener.call(server, socket)
    },
  }
  server.on('connection', (socket: Socket) => {
    const connection = serveConnection(socket, deps, () => connections.delete(connection))
    connections.add(connection)
  })
  const timer = setInterval(() => {
    const nowMs = performance.now()
    for (const connection of connections) connection.sweep(nowMs)
  }, SWEEP_MS)
  timer.unref()
  return {
    endIdle() {
      for (const connection of connections) connection.endIdle()
    },
    stop() {
      clearInterval(timer)
      for (const connection of connections) connection.end()
    },
  }
}
