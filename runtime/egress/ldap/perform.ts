/** Performs one judged request on one connection. */

import { randomUUID } from 'node:crypto'
import { Attribute, Change, type Control } from 'ldapts'
import { joinPieces } from '../../bounded/join.ts'
import { parseDn, writeDn } from '../../contract/connector/dn.ts'
import { LDAP_LIMITS, type LdapRequest } from '../../contract/connector/ldap.ts'
import type { LdapEntry, LdapValue } from '../../contract/connector/ldap-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { LdapTarget } from '../rules/ldap-rules.ts'
import type { Lease as Leased } from '../wire/pool.ts'
import type { Performed } from '../wire/wire-client.ts'
import type { LdapConnection } from './connect.ts'
import { type EntryReader, wholeRanges } from './entries.ts'
import { bytesOrText, toFilter } from './filter.ts'
import { PageControl } from './pages.ts'

type Lease = Leased<LdapConnection>

/**
 * Request whose DNs were judged. They are written again from their parsed form, so that a server reads
 * exactly the judged DNs.
 */
type Judged<R = LdapRequest> = { request: R; target: LdapTarget }

/** Change of a password (RFC 3062). */
const PASSWORD_MODIFY = '1.3.6.1.4.1.4203.1.11.1'

/** Returns the DN as it is sent. @throws context_misused if it is not a DN */
function sentDn(text: string): string {
  const dn = parseDn(text)
  if (dn !== null) return writeDn(dn)
  throw new RuntimeError('context_misused', 'A DN of the request cannot be read')
}

/** Reply to a write. */
const DONE: Performed = { body: Buffer.from('{"result":"success"}'), items: 0 }

/**
 * Performs a request.
 *
 * @returns a page for a search, else only the success
 * @throws the errors of the library; egress_undeclared and others for faults of the request itself
 */
export async function perform(
  { request, target }: Judged,
  lease: Lease,
  leftMs: number,
): Promise<Performed> {
  const { client } = lease.connection
  switch (request.operation) {
    case 'search':
      return search(request, target, lease, leftMs)
    case 'add':
      await client.add(sentDn(request.dn), attributesOf(request.attributes))
      return DONE
    case 'modify':
      await client.modify(
        sentDn(request.dn),
        request.changes.flatMap((change) => changesOf(change)),
      )
      return DONE
    case 'delete':
      await client.del(sentDn(request.dn))
      return DONE
    case 'modifyDN':
      // Every special character is written as \XX, because the library splits at the first comma without a
      // preceding backslash.
      await client.modifyDN(sentDn(request.dn), sentDn(request.to))
      return DONE
    case 'password':
      await setPassword(request, target, lease)
      return DONE
  }
}

async function setPassword(
  { dn, value }: LdapRequest<'password'>,
  { passwordForm }: LdapTarget,
  { connection: { client } }: Lease,
): Promise<void> {
  if (passwordForm === 'rfc3062') {
    await client.exop(PASSWORD_MODIFY, passwordModify(sentDn(dn), value))
    return
  }
  // Active Directory: the password in quotes, as UTF-16 (MS-ADTS section 3.1.1.3.1.5).
  const values = [Buffer.from(`"${value}"`, 'utf16le')]
  const modification = new Attribute({ type: 'unicodePwd', values })
  await client.modify(sentDn(dn), new Change({ operation: 'replace', modification }))
}

/**
 * Returns a PasswdModifyRequestValue: user identity and new password, both short enough for these lengths.
 */
function passwordModify(dn: string, value: string): Buffer {
  const parts = Buffer.concat([element(0x80, Buffer.from(dn)), element(0x82, Buffer.from(value))])
  return element(0x30, parts)
}

function element(tag: number, content: Buffer): Buffer {
  const head =
    content.length < 0x80
      ? Buffer.from([tag, content.length])
      : Buffer.from([tag, 0x82, content.length >> 8, content.length & 0xff])
  return Buffer.concat([head, content])
}

const attributesOf = (all: Record<string, LdapValue[]>): Attribute[] =>
  Object.entries(all).map(([type, values]) => attributeOf(type, values))

// The cast: the library's types require either texts or buffers, but its writer accepts a mixture.
const attributeOf = (type: string, values: LdapValue[]): Attribute =>
  new Attribute({ type, values: values.map(bytesOrText) as string[] })

function changesOf(change: LdapRequest<'modify'>['changes'][number]): Change[] {
  return entriesOf<Partial<Record<'add' | 'replace' | 'delete', Record<string, LdapValue[]>>>>(
    change,
  ).flatMap(([operation, all]) =>
    attributesOf(all ?? {}).map((modification) => new Change({ operation, modification })),
  )
}

type Search = LdapRequest<'search'>

/**
 * Time limit of the server for a page requested ahead, in seconds. Longer than the connection is kept for it.
 */
const AHEAD_SECONDS = 60

const OPENING: Buffer = Buffer.from('{"result":"success","entries":[')

/** Returns an entry unchanged: one range of it was requested. */
const asItIs = async (entry: LdapEntry): Promise<LdapEntry> => entry

/** Cursor: id of the parked search, and the number of entries that it has returned. */
type Cursor = { id: string; given: number }

const writeCursor = ({ id, given }: Cursor): string => `${id} ${given}`

function readCursor(text: string): Cursor {
  const match = /^([0-9a-f-]{36}) (\d{1,8})$/.exec(text)
  if (match !== null) return { id: match[1] ?? '', given: Number(match[2]) }
  throw new RuntimeError('directory_refused', 'The cursor of the search cannot be read', {
    wire: 'invalid_page_token',
  })
}

/**
 * Returns the id of the parked search that a request continues; undefined for a first page, and for a
 * single entry, which has no pages.
 */
export const parkedIdOf = (request: LdapRequest): string | undefined =>
  request.operation === 'search' && request.scope !== 'base' && request.page.cursor
    ? readCursor(request.page.cursor).id
    : undefined

async function search(
  request: Search,
  target: LdapTarget,
  lease: Lease,
  leftMs: number,
): Promise<Performed> {
  const base = sentDn(request.base ?? target.baseText)
  const binary = request.binary.map((name) => name.toLowerCase())
  const size = request.page.size ?? LDAP_LIMITS.defaultPage
  const options = {
    scope: request.scope,
    filter: toFilter(request.filter),
    derefAliases: 'never' as const,
    timeLimit: Math.max(1, Math.ceil(leftMs / 1000)),
    ...(request.attributes === undefined ? {} : { attributes: [...request.attributes] }),
  }
  const { client, guard } = lease.connection
  const find = async (at: string, more: object = {}, control?: Control): Promise<Found> => {
    const entries = guard.collect(binary)
    const { searchReferences } = await client.search(at, { ...options, ...more }, control)
    return { entries, references: searchReferences }
  }
  const finish = async (found: Found, cursor: string | null): Promise<Performed> => {
    const { entries, references } = found
    const referrals = references.slice(0, LDAP_LIMITS.maxReferrals)
    const rest = `],"cursor":${JSON.stringify(cursor)},"referrals":${JSON.stringify(referrals)}}`
    const pieces = [OPENING, ...(await entries.pieces(whole)), Buffer.from(rest)]
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
    return { body: await joinPieces(pieces, bytes), items: entries.count }
  }

  async function whole(one: LdapEntry): Promise<LdapEntry> {
    const { entry, isWhole } = await wholeRanges(one, async (attribute) => {
      const { entries } = await find(one.dn, { scope: 'base', attributes: [attribute] })
      const [first]: LdapEntry[] = JSON.parse(`[${Buffer.concat(await entries.pieces(asItIs))}]`)
      return first
    })
    if (isWhole) return entry
    throw new RuntimeError(
      'upstream_too_large',
      `An attribute has more values than ${LDAP_LIMITS.maxRanges} requests can read`,
    )
  }

  if (request.scope === 'base') return finish(await find(base), null)

  const cursor = request.page.cursor ? readCursor(request.page.cursor) : null
  // The cast: only this module parks searches here.
  const known = lease.parked as ParkedPages | null
  const goesOn = cursor !== null && known?.id === cursor.id && known.given === cursor.given
  lease.parked = null
  const asked = known?.ahead ?? null
  const of = { base, ...request, page: null }
  if (asked !== null && !(goesOn && asked.what === JSON.stringify([of, size])))
    throw new RuntimeError('upstream_closed', 'Another page of the directory was asked for ahead')
  const pages: ParkedPages = goesOn
    ? known
    : { id: randomUUID(), given: 0, cookie: null, ahead: null, isAsked: false }
  const come = async (coming: Promise<Found>): Promise<Found> => {
    const found = await coming
    pages.given += found.entries.count
    pages.cookie = guard.cookie()
    return found
  }
  const next = (wanted: number): Promise<Found> => {
    guard.renew()
    return come(find(base, {}, new PageControl(wanted, pages.cookie)))
  }
  if (!goesOn && cursor !== null) await skip(pages, cursor.given, size, next)
  const found = await (asked === null ? next(size) : come(asked.found))
  const sent = asked === null ? 1 : 0
  if (pages.cookie === null) return { ...(await finish(found, null)), sent }
  const here = writeCursor(pages)
  // First, because further values of the entries are read on the same connection, by requests without pages.
  const page = await finish(found, here)
  const { ahead } = request.page
  pages.ahead = ahead ? askAhead(ahead) : null
  pages.isAsked = pages.ahead !== null
  lease.parked = pages
  return { ...page, sent: pages.isAsked ? sent + 1 : sent }

  /**
   * Requests the next page ahead. The server works while this page is used; its answer is read when the page
   * is requested.
   */
  function askAhead(wanted: number): AskedAhead {
    guard.wait()
    const control = new PageControl(wanted, pages.cookie)
    const coming = find(base, { timeLimit: AHEAD_SECONDS }, control)
    // The result is not awaited if the search is not continued.
    coming.catch(() => {})
    return { what: JSON.stringify([of, wanted]), found: coming }
  }
}

/** Received page. */
type Found = { entries: EntryReader; references: string[] }

/** Page that was requested ahead. `what` identifies its search and page size. */
type AskedAhead = { what: string; found: Promise<Found> }

type ParkedPages = {
  id: string
  given: number
  cookie: Buffer | null
  ahead: AskedAhead | null
  isAsked: boolean
}

/**
 * Reads pages again up to a cursor, because the connection of the search was closed.
 *
 * @throws directory_refused, as an invalid cursor, if the search ends before it
 */
async function skip(
  pages: ParkedPages,
  given: number,
  most: number,
  next: (wanted: number) => Promise<unknown>,
): Promise<void> {
  let before: number
  do {
    before = pages.given
    await next(Math.min(most, given - before))
    // An empty page would cause an endless loop.
  } while (pages.given < given && pages.given > before && pages.cookie !== null)
  if (pages.given === given && pages.cookie !== null) return
  throw new RuntimeError(
    'directory_refused',
    'The search cannot go on where it ended: its entries have changed meanwhile',
    { wire: 'invalid_page_token' },
  )
}
