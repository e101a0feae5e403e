/**
 * Decides which addresses are public: the last barrier between a connector and the operator's own network.
 */
import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not public, and their description. The first range that contains an address describes
 * it.
 * Source: IANA special-purpose address registries for IPv4 and IPv6.
 */
const PRIVATE_RANGES: readonly (readonly [cidr: string, name: string])[] = [
  ['0.0.0.0/8', 'unspecified address'],
  ['10.0.0.0/8', 'private address'],
  ['100.64.0.0/10', 'shared address (carrier-grade NAT)'],
  ['127.0.0.0/8', 'loopback address'],
  ['168.63.129.16/32', 'cloud metadata address'],
  ['169.254.0.0/16', 'link-local address (cloud metadata)'],
  ['172.16.0.0/12', 'private address'],
  ['192.0.0.0/24', 'reserved address'],
  ['192.0.2.0/24', 'documentation address'],
  ['192.88.99.0/24', '6to4 relay address'],
  ['192.168.0.0/16', 'private address'],
  ['198.18.0.0/15', 'benchmarking address'],
  ['198.51.100.0/24', 'documentation address'],
  ['203.0.113.0/24', 'documentation address'],
  ['224.0.0.0/4', 'multicast address'],
  ['255.255.255.255/32', 'broadcast address'],
  ['240.0.0.0/4', 'reserved address'],
  ['::/128', 'unspecified address'],
  ['::1/128', 'loopback address'],
  ['fd00:ec2::254/128', 'cloud metadata address'],
  ['fc00::/7', 'private address (unique local)'],
  ['fe80::/10', 'link-local address'],
  ['fec0::/10', 'site-local address'],
  ['ff00::/8', 'multicast address'],
  ['2001::/32', 'Teredo address'],
  ['2001:2::/48', 'benchmarking address'],
  ['2001::/23', 'reserved address'],
  ['2001:db8::/32', 'documentation address'],
  ['3fff::/20', 'documentation address'],
  ['2002::/16', '6to4 address'],
]

const LISTS = PRIVATE_RANGES.map(([cidr, name]) => ({
  list: blockList(cidr),
  name,
  family: familyOf(cidr),
}))

/** IPv6 addresses assigned to the public internet. All others are reserved. */
const GLOBAL_V6 = blockList('2000::/3')

/** IPv6 ranges whose last 32 bits are the IPv4 address that is reached. */
const EMBEDDING_V4 = [blockList('::ffff:0:0/96'), blockList('64:ff9b::/96')]

/**
 * Returns the reason why an address is not public ("loopback address"), or `null` for a public one.
 *
 * An IPv4-mapped or NAT64 address is judged by the IPv4 address in it: networks with only IPv6 reach
 * everything through NAT64. Teredo, 6to4, local NAT64 and unassigned addresses are not public.
 *
 * @param address IPv4 or IPv6 without brackets. Any other text counts as not public.
 */
export function privateKind(address: string): string | null {
  const bare = address.replace(/%.*$/, '')
  const family = isIP(bare)
  if (family === 0) return 'unreadable address'
  if (family === 4) return rangeOf(bare, 'ipv4')
  if (EMBEDDING_V4.some((list) => list.check(bare, 'ipv6'))) {
    const kind = rangeOf(lastFourBytes(bare), 'ipv4')
    return kind === null ? null : `${kind} inside IPv6`
  }
  return rangeOf(bare, 'ipv6') ?? (GLOBAL_V6.check(bare, 'ipv6') ? null : 'reserved address')
}

/** Reports whether an address belongs to the public internet. */
export const isPublic = (address: string): boolean => privateKind(address) === null

function rangeOf(address: string, family: 'ipv4' | 'ipv6'): string | null {
  return (
    LISTS.find((range) => range.family === family && range.list.check(address, family))?.name ??
    null
  )
}

function blockList(cidr: string): BlockList {
  const [address, bits] = cidr.split('/')
  const list = new BlockList()
  list.addSubnet(address!, Number(bits), familyOf(cidr))
  return list
}

function familyOf(cidr: string): 'ipv4' | 'ipv6' {
  return cidr.includes(':') ? 'ipv6' : 'ipv4'
}

/** Returns the IPv4 address at the end of an IPv6 address in any notation. */
function lastFourBytes(address: string): string {
  const [high, low] = new URL(`http://[${address}]/`).hostname
    .slice(1, -1)
    .split(':')
    .slice(-2)
    .map((group) => Number.parseInt(group === '' ? '0' : group, 16))
  return [high! >> 8, high! & 255, low! >> 8, low! & 255].join('.')
}
