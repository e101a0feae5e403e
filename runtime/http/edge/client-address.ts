/** Address of the client: that of its connection, or the one that trusted proxies report. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { Env } from './env.ts'

/** Maximum number of X-Forwarded-For entries that are read, from the end. */
const MAX_HOPS = 32

/**
 * Creates the function that returns the address of the client. It reads X-Forwarded-For from the end while
 * the writer of an entry is a trusted proxy, up to the first address that is not one. At an entry that is no
 * address it returns the last known proxy. Without trusted proxies the header is ignored.
 *
 * @param trusted Addresses and networks, such as `10.0.0.0/8`.
 */
export function createClientAddress(trusted: readonly string[]): (c: Context<Env>) => string {
  const proxies = new BlockList()
  for (const one of trusted) {
    const [address = '', bits] = one.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) proxies.addAddress(address, family)
    else proxies.addSubnet(address, Number(bits), family)
  }
  const isProxy = (address: string): boolean =>
    isIP(address) !== 0 && proxies.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  return (c) => {
    const { incoming }: { incoming?: IncomingMessage } = c.env ?? {}
    let client = plain(incoming?.socket?.remoteAddress ?? '')
    const hops = (c.req.header('x-forwarded-for') ?? '').split(',').slice(-MAX_HOPS)
    while (hops.length > 0 && isProxy(client)) {
      const said = plain(hops.pop() ?? '')
      if (isIP(said) === 0) break
      client = said
    }
    return client
  }
}

/** Returns an address without port and brackets, and a mapped IPv4 address as IPv4. */
function plain(text: string): string {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
  return bare.replace(/^::ffff:(?=\d+\.)/i, '')
}

/**
 * Returns the 64-bit network of an IPv6 address, within which one caller has any number of addresses. Returns
 * other addresses unchanged.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array(Math.max(0, 8 - (first?.length ?? 0) - (last?.length ?? 0))).fill('0')
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':')
}
