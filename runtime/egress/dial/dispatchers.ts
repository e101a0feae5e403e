/** Connections, separated by connector: each has its own undici Agent, so that none uses another's. */
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici'
import { createCache } from '../../bounded/cache.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import type { PrivateGrants } from '../limits/grants.ts'
import type { EgressLimits } from '../limits/limits.ts'
import { createDial } from './dial.ts'
import type { ResolveName } from './lookups.ts'

export type Dispatchers = {
  /** Returns the dispatcher of a connector, direct or through a proxy. Created at first use. */
  get(connectorId: string, proxy: string | null): Dispatcher
  /** Ends all connections. Open requests fail. */
  close(): Promise<void>
}

/** Memory of a connector's idle connections, in bytes. */
const DISPATCHER_BYTES = 32 * 1024

/**
 * Keeps the dispatchers of the most recently used connectors. An evicted one finishes its open requests; idle
 * connections close by themselves after `keepAliveMs`. HTTP/1.1 only.
 */
export function createDispatchers(options: {
  grants: PrivateGrants
  limits: EgressLimits
  resolve?: ResolveName
}): Dispatchers {
  const { grants, limits } = options
  const kept = createCache<Dispatcher>('connections', {
    bytesOf: () => DISPATCHER_BYTES,
    // Closing waits for open requests. It is not awaited, and a failure to close is of no use to any caller.
    onGone: (dispatcher) => void dispatcher.close().catch(() => {}),
  })
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
      // For a proxy that accepts the connection and then sends nothing.
      clientFactory: (origin, given) =>
        new Pool(origin, { ...given, headersTimeout: limits.connectTimeoutMs }),
    })

  return {
    get(connectorId, proxy) {
      const key = `${normalizeId(connectorId)} ${proxy ?? ''}`
      const found = kept.get(key)
      const dispatcher =
        found ?? (proxy === null ? createDirect(connectorId) : createProxied(proxy))
      if (found === undefined) kept.set(key, dispatcher)
      return dispatcher
    },
    async close() {
      const all = [...kept.values()]
      kept.clear()
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()))
    },
  }
}
