/** Connections, kept apart by connector: one undici Agent each, so that no connector uses another's. */
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici'
import { normalizeId } from '../contract/manifest.ts'
import { createDial } from './dial.ts'
import type { PrivateGrants } from './grants.ts'
import type { EgressLimits } from './limits.ts'
import type { Resolve } from './lookups.ts'

export type Dispatchers = {
  /** The dispatcher for a connector, direct or through a proxy; made at first use. */
  get(connectorId: string, proxy: string | null): Dispatcher
  /** Ends all connections; open requests fail. */
  close(): Promise<void>
}

/**
 * Keeps the dispatchers of the connectors used last. One that goes finishes its open requests; idle
 * connections close by themselves after `keepAliveMs`. HTTP/1.1 only.
 */
export function createDispatchers(options: {
  grants: PrivateGrants
  limits: EgressLimits
  resolve?: Resolve
}): Dispatchers {
  const { grants, limits } = options
  const kept = new Map<string, Dispatcher>()
  const shared = {
    allowH2: false,
    headersTimeout: 0,
    maxHeaderSize: limits.maxHeaderBytes,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMs,
  }

  const createDirect = (connectorId: string): Dispatcher => {
    const granted = grants.get(normalizeId(connectorId))
    const connect = createDial({
      connectorId,
      isGranted: (target) => granted?.has(target) ?? false,
      connectTimeoutMs: limits.connectTimeoutMs,
      ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
    })
    return new Agent({ ...shared, connect })
  }

  const createProxied = (proxy: string): Dispatcher =>
    new ProxyAgent({
      ...shared,
      uri: proxy,
      connectTimeout: limits.connectTimeoutMs,
      // A proxy that takes the connection and then says nothing.
      clientFactory: (origin, given) =>
        new Pool(origin, { ...given, headersTimeout: limits.connectTimeoutMs }),
    })

  return {
    get(connectorId, proxy) {
      const key = `${normalizeId(connectorId)} ${proxy ?? ''}`
      const found = kept.get(key)
      const dispatcher =
        found ?? (proxy === null ? createDirect(connectorId) : createProxied(proxy))
      kept.delete(key)
      kept.set(key, dispatcher)
      if (kept.size > limits.maxAgents) retireOldest(kept)
      return dispatcher
    },
    async close() {
      const all = [...kept.values()]
      kept.clear()
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
    },
  }
}

function retireOldest(kept: Map<string, Dispatcher>): void {
  const [oldest] = kept
  if (oldest === undefined) return
  kept.delete(oldest[0])
  // Closing waits for open requests; nobody waits for it, and a failure to close has no reader.
  oldest[1].close().catch(() => {})
}
