/** All words of the pages for people as one table: no key is in two of its parts. */
import { ACCESS_WORDS } from './access.ts'
import { ASKING_WORDS } from './asking.ts'
import { DELEGATE_WORDS } from './delegates.ts'
import { FINDING_WORDS } from './findings.ts'
import { FRAME_WORDS } from './frame.ts'
import { GLASS_WORDS } from './glass.ts'
import { INBOX_WORDS } from './inbox.ts'
import { PERSONAL_WORDS } from './personal.ts'
import { REGISTRY_WORDS } from './registry.ts'
import { REVIEW_WORDS } from './reviews.ts'
import type { Words } from './say.ts'
import { SCIM_TOKEN_WORDS } from './scim-tokens.ts'
import { SIGN_IN_WORDS } from './sign-in.ts'
import { STATE_WORDS } from './states.ts'
import { TOKEN_WORDS } from './tokens.ts'
import { UPKEEP_WORDS } from './upkeep.ts'

/** PAGE_PARTS: what of the pages -> its words. */
export const PAGE_PARTS = {
  frame: FRAME_WORDS,
  door: SIGN_IN_WORDS,
  access: ACCESS_WORDS,
  asking: ASKING_WORDS,
  states: STATE_WORDS,
  glass: GLASS_WORDS,
  findings: FINDING_WORDS,
  inbox: INBOX_WORDS,
  personal: PERSONAL_WORDS,
  delegates: DELEGATE_WORDS,
  reviews: REVIEW_WORDS,
  tokens: TOKEN_WORDS,
  scim_tokens: SCIM_TOKEN_WORDS,
  upkeep: UPKEEP_WORDS,
  registry: REGISTRY_WORDS,
} as const

export const PAGE_WORDS = {
  ...FRAME_WORDS,
  ...SIGN_IN_WORDS,
  ...ACCESS_WORDS,
  ...ASKING_WORDS,
  ...STATE_WORDS,
  ...GLASS_WORDS,
  ...FINDING_WORDS,
  ...INBOX_WORDS,
  ...PERSONAL_WORDS,
  ...DELEGATE_WORDS,
  ...REVIEW_WORDS,
  ...TOKEN_WORDS,
  ...SCIM_TOKEN_WORDS,
  ...UPKEEP_WORDS,
  ...REGISTRY_WORDS,
} as const

export type PageWords = Words<typeof PAGE_WORDS>

/** A key whose words stand as they are. */
export type PlainWords = {
  [K in keyof PageWords]: PageWords[K] extends string ? K : never
}[keyof PageWords]

/** Keys that stand in two parts: of them one would hide the other. */
type Twice<P extends object> = {
  [A in keyof P]: keyof P[A] & { [B in Exclude<keyof P, A>]: keyof P[B] }[Exclude<keyof P, A>]
}[keyof P]
// Names the key where it does not compile.
PAGE_PARTS satisfies [Twice<typeof PAGE_PARTS>] extends [never] ? object : Twice<typeof PAGE_PARTS>
