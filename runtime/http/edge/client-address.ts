/** Who sends a request: the address of its connection, or what trusted proxies say of it. */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Context } from 'hono'
import type { Env } from './env.ts'

/** Most entries of X-Forwarded-For that are looked at, from its end. */
const MAX_HOPS = 32

/**
 * Makes the function that says who sends. X-Forwarded-For is read from its end, as long as who wrote it
 * is trusted: the first address that is none of our proxies'. Where it holds something else, the last proxy
 * that is known. Without trusted proxies the header is not looked at.
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

/** An address without port and brackets, and IPv4 as such. */
function plain(text: string): string {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1')
  return bare.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** The same of IPv6's networks of 64 bits, in which one caller has any number of addresses. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const [first, last] = [head, tail].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array(Math.max(0, 8 - (first?.length ?? 0) - (last?.length ?? 0))).fill('0')
  return [...(first ?? []), ...zeros, ...(last ?? [])].slice(0, 4).join(':')
}
