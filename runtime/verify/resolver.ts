/** Names of a domain that an attacker holds, as the attacker's own name server answers for them. */
import { lookup } from 'node:dns/promises'

/**
 * A public address that nobody has: of a block of IPv6 that is not given out. What connects to it reaches
 * nobody.
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
  // Judged once and asked again: the second answer is another.
  'changing.hostile.example': (turn) => [turn % 2 === 0 ? NOBODY : '127.0.0.1'],
}

/** Answers like a resolver of which some names are an attacker's; those under `silent` are never answered. */
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
