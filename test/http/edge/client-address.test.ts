/** The client address of a request, behind proxies and without them. */
import type { Context } from 'hono'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../runtime/config/config.ts'
import { createClientAddress, networkOf } from '../../../runtime/http/edge/client-address.ts'
import type { Env } from '../../../runtime/http/edge/env.ts'

const clientOf = (trusted: string[], remoteAddress: string, forwarded?: string): string =>
  createClientAddress(trusted)({
    env: { incoming: { socket: { remoteAddress } } },
    req: { header: (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined) },
  } as unknown as Context<Env>)

describe('the client is', () => {
  test.each<[what: string, trusted: string[], peer: string, forwarded: string, client: string]>([
    ['the peer, if no proxy is trusted', [], '10.0.0.1', '203.0.113.9', '10.0.0.1'],
    ['the peer, if it is not a trusted proxy', ['10.0.0.2'], '10.0.0.1', '203.0.113.9', '10.0.0.1'],
    ['the address that the proxy names', ['10.0.0.1'], '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    [
      'the last address that is not a trusted proxy',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '1.1.1.1, 203.0.113.9, 10.0.0.2',
      '203.0.113.9',
    ],
    [
      'the first address, if all are trusted proxies',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '10.0.0.3,10.0.0.2',
      '10.0.0.3',
    ],
    ['the proxy, if it names no client', ['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
    [
      'the proxy, if its last entry is not an address',
      ['10.0.0.1'],
      '10.0.0.1',
      '1.1.1.1, unknown',
      '10.0.0.1',
    ],
    [
      'the named address without its port',
      ['10.0.0.1'],
      '10.0.0.1',
      '203.0.113.9:4711',
      '203.0.113.9',
    ],
    [
      'the named IPv6 address without brackets',
      ['::1'],
      '::1',
      '[2001:db8::1]:4711',
      '2001:db8::1',
    ],
    [
      'the address that a proxy with an IPv4-mapped address names',
      ['10.0.0.1'],
      '::ffff:10.0.0.1',
      '1.1.1.1',
      '1.1.1.1',
    ],
  ])('%s', (_what, trusted, peer, forwarded, client) => {
    expect(clientOf(trusted, peer, forwarded)).toBe(client)
  })
})

test.each(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'])('%s can be trusted', (text) => {
  expect(readConfig({ KEYWAY_TRUSTED_PROXIES: `${text} 192.0.2.1` }).trustedProxies).toEqual([
    text,
    '192.0.2.1',
  ])
})

test.each(['10.0.0.0/33', '10.0.0.0/', 'proxy', '::/129', '10.0.0.0/8/8', 'fe80::1%eth0'])(
  '“%s” is neither an address nor a network',
  (text) => {
    expect(() => readConfig({ KEYWAY_TRUSTED_PROXIES: text })).toThrow('KEYWAY_TRUSTED_PROXIES')
  },
)

test.each([
  ['2001:db8:1:2::7', '2001:db8:1:2'],
  ['2001:DB8::7', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4'],
  ['203.0.113.9', '203.0.113.9'],
])('the address %s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
