/** Names in an attacker's domain, resolved as the attacker's own name server answers. */
import { lookup } from 'node:dns/promises'

/**
 * Unassigned public address, from an IPv6 block that is not allocated. A connection to it reaches no host.
 */
const NOBODY = '2f00:dead:beef::1'

const NAMES: Record<string, (turn: number) => readonly string[]> = {
  'loopback.hostile.example': () => ['127.0.0.1'],
  'metadata.hostile.example': () => ['169.254.169.254'],
  'six.hostile.example': () => ['::1'],
  'mapped.hostile.example': () => ['::ffff:127.0.0.1'],
  'mixed.hostile.example': () => [NOBODY, '127.0.0.1'],
  'empty.hostile.example': () => [],
  'thousand.hostile.example': () => [...Array(1000).fill(NOBODY), '127.0.0.1'],
  // Checked once and resolved again: the second answer differs.
  'changing.hostile.example': (turn) => [turn % 2 === 0 ? NOBODY : '127.0.0.1'],
}

/** Makes a resolver that answers some names like an attacker. Names under `silent` are never answered. */
export function createHostileResolver(): (hostname: string) => Promise<readonly string[]> {
  const turns = new Map<string, number>()
  return async (hostname) => {
    if (hostname.endsWith('silent.hostile.example')) return new Promise(() => {})
    const answer = NAMES[hostname]
    if (!answer) return (await lookup(hostname, { all: true })).map(({ address }) => address)
    const turn = turns.get(hostname) ?? 0
    turns.set(hostname, turn + 1)
    return answer(turn)
  }
}
