/** The operator's outbound proxy: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, parsed as curl and others do. */
import { isIP } from 'node:net'
import { isGranted, type PrivateGrants, targetOf } from '../limits/grants.ts'
import { refusePrivate } from './dial.ts'

/** Environment variables as they are; `null` or empty if unset. */
export type ProxySettings = {
  httpsProxy: string | null
  httpProxy: string | null
  noProxy: string | null
}

/** Returns the proxy for a URL, as a URL with its credentials; `null` to connect directly. */
export type ChooseProxy = (url: URL) => string | null

/**
 * Parses the variables once. A proxy without a scheme is http; user and password in it become
 * Proxy-Authorization. NO_PROXY is a list separated by commas or spaces: `*`, a host, a domain (with or
 * without a leading dot: itself and all subdomains), each with an optional port.
 *
 * @throws Error naming the variable and the right form, without the value (it may contain a password)
 */
export function createChooseProxy(settings: ProxySettings | null): ChooseProxy {
  if (settings === null) return () => null
  const https = parseProxy('HTTPS_PROXY', settings.httpsProxy)
  const http = parseProxy('HTTP_PROXY', settings.httpProxy)
  const direct = (settings.noProxy ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  return (url) => {
    const proxy = url.protocol === 'https:' ? https : http
    return proxy === null || direct.some((entry) => namesHost(entry, url)) ? null : proxy
  }
}

/**
 * Judges a URL that is requested through a proxy, as far as possible: an IP literal, and the names that are
 * loopback by definition. Other names are resolved by the proxy, not by Keyway. So the proxy is the barrier
 * between connectors and its own network, and the operator must be told so.
 *
 * @throws egress_private
 */
export function judgeProxied(grants: PrivateGrants, connectorId: string, url: URL): void {
  if (isGranted(grants, connectorId, url)) return
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) refusePrivate(host, targetOf(url), connectorId)
  if (/(^|\.)localhost$/.test(host)) refusePrivate('127.0.0.1', targetOf(url), connectorId)
}

function parseProxy(variable: string, text: string | null): string | null {
  if (text === null || text.trim() === '') return null
  const trimmed = text.trim()
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`)
  if (
    url === null ||
    (url.protocol !== 'http:' && url.protocol !== 'https:') ||
    url.hostname === ''
  )
    throw new Error(
      `${variable} is not a proxy's address: write http://proxy.example:3128 or http://user:password@proxy.example:3128`,
    )
  return url.href
}

function namesHost(entry: string, url: URL): boolean {
  if (entry === '*') return true
  const [, written, port] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? []
  if (written === undefined || (port !== undefined && targetOf(url) !== `${url.hostname}:${port}`))
    return false
  const name = written.replace(/^\*?\./, '')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return (
    host === name.replace(/^\[(.*)\]$/, '$1') || (isIP(host) === 0 && host.endsWith(`.${name}`))
  )
}
