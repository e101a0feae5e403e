/**
 * One spelling of an address or a user name: Unicode writes é as one character or as two, and systems send either. Names are
 * prepared and compared in NFC (RFC 7644 section 5, by PRECIS: RFC 8265 section 3.3). What is stored stays as it is: a person
 * who was stored in another form is found by it.
 */
import { type SQL, sql } from 'drizzle-orm'

/** In one spelling and without case. */
export const comparable = (text: string): string => text.normalize('NFC').toLowerCase()

/** The spellings that a text may be stored in, the likeliest first. */
export const spellingsOf = (text: string): string[] => [
  ...new Set([text, text.normalize('NFC'), text.normalize('NFD')]),
]

/**
 * The spelling of a text that something is stored in; NFC where nothing is. ASCII, which has one, costs nothing.
 *
 * @param given SQL of type text.
 */
export const knownSpelling = (given: SQL, isStored: (spelling: SQL) => SQL): SQL =>
  sql`case when (octet_length(${given}) = length(${given})) is not false then ${given} else coalesce((
    select way.spelling from unnest(array[${given}, normalize(${given}, NFC), normalize(${given}, NFD)])
      with ordinality as way(spelling, place)
    where ${isStored(sql`way.spelling`)} order by way.place limit 1), normalize(${given}, NFC)) end`

/** The spelling of an address that a person of the domain has; NFC where nobody has it. */
export const knownAddress = (domainId: string, given: SQL): SQL =>
  knownSpelling(
    given,
    (spelling) => sql`exists (select from users known
      where known.domain_id = ${domainId} and lower(known.email) = lower(${spelling}))`,
  )
