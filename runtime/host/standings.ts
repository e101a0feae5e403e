/** The operator's list of connectors, including suspicion and quarantine on this host. */

import { noteRelease, type ReleaseConnector } from '../connectors/lifecycle/quarantined.ts'
import type { Installed } from '../connectors/registry/installed.ts'
import type { LateEntries } from '../core/kernel/audit/late-entries.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { Log } from '../observe/log.ts'
import type { Siblings } from '../processes/siblings.ts'

type Listing = ReturnType<Installed['list']>[number]

type StandingsDeps = {
  served: Pick<Installed, 'list' | 'find'>
  lanes: Pick<Lanes, 'standing' | 'release'>
  siblings: Pick<Siblings, 'ask'>
  log: Log
  entries: LateEntries
}

/** Row of the list. A served connector may also be suspect, or be in quarantine and take no calls. */
type StandingRow = Omit<Listing, 'state'> & {
  state: Listing['state'] | 'suspect' | 'quarantined'
}

type Standings = {
  listConnectors(): StandingRow[]
  releaseConnector: ReleaseConnector
  /** Releases a connector in this process only. Reports whether it was suspect or in quarantine. */
  releaseHere(id: string): boolean
}

export function createStandings({
  served,
  lanes,
  siblings,
  log,
  entries,
}: StandingsDeps): Standings {
  function withStanding(row: Listing): StandingRow {
    const stands = row.state === 'ready' && row.digest ? lanes.standing.of(row.digest) : null
    if (stands === null || stands.state === 'clear') return row
    return { ...row, state: stands.state, reason: stands.reason }
  }

  function releaseHere(id: string): boolean {
    const version = served.find(id)
    const released = version !== null && lanes.release(version.digest)
    if (released) log.info({ connector: id }, 'a connector was released')
    return released
  }

  return {
    listConnectors: () => served.list().map(withStanding),
    releaseHere,
    async releaseConnector(given, by) {
      const id = served.find(given)?.id
      if (id === undefined) return null
      const here = releaseHere(id)
      const others = await siblings.ask({ about: 'release', connector: id })
      const released = here || others.includes(true)
      if (released) await noteRelease(entries, id, by)
      return { id, released }
    },
  }
}
