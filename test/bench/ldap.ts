/**
 * The cost of the bridge to directories: the same requests to OpenLDAP on loopback by ldapts alone and
 * through egress, alternately and one at a time. The goals are less than 0.5 ms over ldapts for one entry,
 * and at least half of its entries per second in pages.
 *
 *     npm run bench:ldap
 */
import { Client } from 'ldapts'
import { createEgress } from '../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../runtime/egress/limits/grants.ts'
import { manifestOf } from '../egress/fixtures/open-egress.ts'
import { basicSecrets, ldap, noDirectory, startDirectory } from '../egress/ldap/directory.ts'
import { middleTimes } from './side-by-side.ts'

const ROUNDS = { entry: 3000, page: 100 }
const GOAL_MS = 0.5
const GOAL_SHARE = 0.5

if (noDirectory !== null) throw new Error(`There is no OpenLDAP here: ${noDirectory}`)
const directory = await startDirectory({ PAGE: '1000' })
const { url, baseDn, auth } = directory
const grants = parsePrivateGrants(`acme=${new URL(url).host}`)
const egress = createEgress({
  privateGrants: grants,
  plainLdap: grants,
  proxy: null,
  userAgent: 'keyway/bench',
  // The pace limit is not to be measured.
  ceilings: { maxRequestsPerSecond: 1_000_000 },
})
const manifest = manifestOf([{ ldap: url, base: baseDn, bind: { credential: 'auth' } }], {
  limits: { requests_per_second: 1_000_000 },
})
const client = new Client({ url })
await client.bind(auth.bindDn, auth.password)

/** A separate call for each request, like a connector's call. */
const through = (body: object) => () =>
  egress
    .open({
      connectorId: 'acme',
      tenant: 'bench',
      manifest,
      capability: 'list_accounts',
      level: 'read',
      settings: {},
      signal: new AbortController().signal,
      secrets: basicSecrets(auth.bindDn, auth.password),
    })
    .fetch(ldap('SEARCH', body))

const entry = { base: `uid=user001,ou=people,${baseDn}`, attributes: ['uid', 'mail'] }
const bulk = `ou=bulk,${baseDn}`
const page = async (): Promise<void> => {
  const pages = client.searchPaginated(bulk, { attributes: ['uid'], paged: { pageSize: 1000 } })
  for await (const _first of pages) return
}

type Ways = Record<'ldapts alone' | 'egress', () => Promise<unknown>>
const WAYS: Record<keyof typeof ROUNDS, Ways> = {
  entry: {
    'ldapts alone': () => client.search(entry.base, { ...entry, scope: 'base' }),
    egress: through({ ...entry, scope: 'base' }),
  },
  page: {
    'ldapts alone': page,
    egress: through({ base: bulk, attributes: ['uid'], page: { size: 1000 } }),
  },
}

const measure = (what: keyof typeof ROUNDS) => middleTimes(WAYS[what], ROUNDS[what])

const one = await measure('entry')
const many = await measure('page')
const overMs = one.egress - one['ldapts alone']
const share = many['ldapts alone'] / many.egress
const row = (way: keyof Ways) =>
  `${way.padEnd(16)}${one[way].toFixed(3).padStart(14)}${many[way].toFixed(2).padStart(22)}`
console.log(`p50 in milliseconds, one at a time\n`)
console.log(`${'way'.padEnd(16)}${'one entry'.padStart(14)}${'1000 in a page'.padStart(22)}`)
console.log(`${row('ldapts alone')}\n${row('egress')}\n`)
const told = (isMet: boolean) => (isMet ? 'met' : 'missed')
console.log(`goal: less than ${GOAL_MS} ms over ldapts: ${told(overMs < GOAL_MS)}`)
console.log(`goal: at least ${GOAL_SHARE} of its entries a second: ${told(share >= GOAL_SHARE)}`)
await client.unbind()
await egress.close()
await directory.stop()
