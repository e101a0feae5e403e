/**
 * Rules of findings: a row for each kind, each a pure function of facts. The meaning of a kind and the next
 * step are in contract/models/finding.ts.
 */
import { LICENCE_TYPES, PRIVILEGED_NAMES } from '../../contract/models/entitlement-tag.ts'
import { type FindingKind, REAPPEARED_DAYS, UNUSED_DAYS } from '../../contract/models/finding.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { FindingDetails } from '../../database/schema/findings.ts'
import { INACTIVE_ACCOUNTS } from '../separation/holdings.ts'
import type { Broken } from '../separation/rules.ts'

const DAY_MS = 24 * 3600 * 1000
/**
 * Time until a sync counts as stale: this many intervals of a scheduled one, but at least STALE_DAYS; this
 * many days of one started by hand.
 */
const STALE_INTERVALS = 3
const STALE_DAYS_BY_HAND = 30
const STALE_DAYS = 1

export type AccessFacts = {
  entitlementId: number
  label: string
  type: string
  since: Date
  /** Whether a request or a policy granted it. */
  explained: boolean
  /** Whether it can be requested in the store. */
  requestable: boolean
  /** Whether its permission is break-glass: kept for emergencies, so it may stay unused for long. */
  breakGlass: boolean
  /** When an access review last removed it. */
  removedAt: Date | null
}

export type AccountFacts = {
  accountId: string
  type: 'USER' | 'ROLE' | 'SERVICE'
  status: string | null
  userId: string | null
  userStatus: string | null
  since: Date
  /** Its last login or activity. */
  usedAt: Date | null
  /** When an access review last removed the account. */
  removedAt: Date | null
  held: readonly AccessFacts[]
}

/** Facts about an app as a whole. */
export type ObservedApp = {
  appId: string
  /** Whether its system reports when accounts are used. */
  tellsUse: boolean
  /** When a complete sync first recorded accounts, or null if none has. */
  firstSeen: Date | null
  isConnected: boolean
  /** Whether its connector lists accounts. */
  syncs: boolean
  connectedAt: Date
  lastComplete: Date | null
  /** Interval of scheduled syncs in hours; 0 if syncs are started by hand. */
  everyHours: number
  /** Served version of its connector, or null if none is served. */
  servedVersion: string | null
  /** Newest uploaded version above the served one, or null. */
  newerVersion: string | null
}

export type FoundIssue = {
  kind: FindingKind
  /** Identity of the finding within its kind, made of ids: the same subject is the same finding. */
  subject: string
  accountId?: string
  entitlementId?: number
  userId?: string
  ruleId?: string
  details?: FindingDetails
}

const isActive = ({ status }: AccountFacts): boolean =>
  !INACTIVE_ACCOUNTS.includes(status ?? 'ACTIVE')

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS)

/** Reports whether an account has been unused for long. Always false if the system does not report use. */
const isUnused = (
  { usedAt, since }: Pick<AccountFacts, 'usedAt' | 'since'>,
  { tellsUse }: Pick<ObservedApp, 'tellsUse'>,
  now: Date,
): boolean => tellsUse && (usedAt ?? since) < daysBefore(now, UNUSED_DAYS)

/** Reports whether a held entitlement has been unused for long. Break-glass ones never count as idle. */
const isIdle = (held: AccessFacts, account: AccountFacts, app: ObservedApp, now: Date): boolean =>
  !held.breakGlass && isUnused(account, app, now)

const PRIVILEGED = new RegExp(PRIVILEGED_NAMES, 'i')

/** Reports whether the name of an entitlement suggests administrative rights. */
export const isPrivileged = ({ label, type }: Pick<AccessFacts, 'label' | 'type'>): boolean =>
  PRIVILEGED.test(`${type} ${label}`)

const LICENCE = new RegExp(LICENCE_TYPES, 'i')

/** Reports whether the type of an entitlement marks it as a paid licence. */
export const isLicence = ({ type }: Pick<AccessFacts, 'type'>): boolean => LICENCE.test(type)

const usedDetails = ({ usedAt }: AccountFacts): FindingDetails =>
  usedAt === null ? {} : { last_used: usedAt.toISOString() }

const ofAccount = (account: AccountFacts, more: Partial<FoundIssue> = {}) => ({
  accountId: account.accountId,
  ...(account.userId === null ? {} : { userId: account.userId }),
  ...more,
})

const ofHeld = (account: AccountFacts, { entitlementId, label }: AccessFacts, details = {}) => ({
  ...ofAccount(account, { entitlementId, details: { label, ...details } }),
  subject: `${account.accountId} ${entitlementId}`,
})

type OfAccount = (account: AccountFacts, app: ObservedApp, now: Date) => Omit<FoundIssue, 'kind'>[]

/** Returns a rule that makes one finding for the account if the condition holds. */
const whole =
  (holds: (account: AccountFacts, app: ObservedApp, now: Date) => boolean): OfAccount =>
  (account, app, now) =>
    isActive(account) && holds(account, app, now)
      ? [{ ...ofAccount(account), subject: account.accountId }]
      : []

/** Returns a rule that makes a finding for each entitlement for which the condition holds. */
const each =
  (
    holds: (held: AccessFacts, account: AccountFacts, app: ObservedApp, now: Date) => boolean,
    details: (account: AccountFacts, held: AccessFacts) => FindingDetails = () => ({}),
  ): OfAccount =>
  (account, app, now) =>
    isActive(account)
      ? account.held
          .filter((held) => holds(held, account, app, now))
          .map((held) => ofHeld(account, held, details(account, held)))
      : []

const LEFT = ['SUSPENDED', 'INACTIVE']

const reappeared = (removedAt: Date | null, since: Date, now: Date): boolean =>
  removedAt !== null && since >= removedAt && removedAt >= daysBefore(now, REAPPEARED_DAYS)

/** Rules for accounts, by kind. */
export const ACCOUNT_RULES = {
  ORPHAN_ACCOUNT: whole(({ type, userId }) => type === 'USER' && userId === null),
  LEAVER_ACCOUNT: whole(({ userStatus }) => userStatus !== null && LEFT.includes(userStatus)),
  SERVICE_ACCOUNT_WITHOUT_OWNER: whole(({ type, userId }) => type === 'SERVICE' && userId === null),
  UNUSED_LICENCE: each(
    (held, account, app, now) => isLicence(held) && isIdle(held, account, app, now),
    usedDetails,
  ),
  DORMANT_PRIVILEGE: each(
    (held, account, app, now) => isPrivileged(held) && isIdle(held, account, app, now),
    usedDetails,
  ),
  UNEXPLAINED_ENTITLEMENT: each(
    (held, { userId }, { firstSeen }) =>
      userId !== null &&
      held.requestable &&
      !held.explained &&
      firstSeen !== null &&
      held.since > firstSeen,
  ),
  REAPPEARED: (account, app, now) => [
    ...each((held) => reappeared(held.removedAt, held.since, now))(account, app, now),
    ...whole(({ removedAt, since }) => reappeared(removedAt, since, now))(account, app, now),
  ],
} as const satisfies Partial<Record<FindingKind, OfAccount>>

type OfApp = (app: ObservedApp, now: Date) => FindingDetails | null

const staleAfterMs = ({ everyHours }: ObservedApp): number =>
  everyHours === 0
    ? STALE_DAYS_BY_HAND * DAY_MS
    : Math.max(STALE_DAYS * DAY_MS, STALE_INTERVALS * everyHours * 3600 * 1000)

/** Rules for connected apps, by kind. A rule returns null if there is no finding. */
export const APP_RULES = {
  SYNC_STALE(app, now) {
    const last = app.lastComplete ?? app.connectedAt
    if (!app.isConnected || !app.syncs || now.getTime() - last.getTime() <= staleAfterMs(app))
      return null
    return app.lastComplete === null ? {} : { last_complete: app.lastComplete.toISOString() }
  },
  CONNECTOR_OUTDATED({ isConnected, servedVersion, newerVersion }) {
    if (!isConnected || (servedVersion !== null && newerVersion === null)) return null
    return {
      ...(servedVersion === null ? {} : { version: servedVersion }),
      ...(newerVersion === null ? {} : { newer_version: newerVersion }),
    }
  },
} as const satisfies Partial<Record<FindingKind, OfApp>>

/** Returns the findings of an account. */
export const findingsOfAccount = (
  account: AccountFacts,
  app: ObservedApp,
  now: Date,
): FoundIssue[] =>
  entriesOf(ACCOUNT_RULES).flatMap(([kind, rule]) =>
    rule(account, app, now).map((found) => ({ kind, ...found })),
  )

/** Returns the findings of an app as a whole. */
export const findingsOfApp = (app: ObservedApp, now: Date): FoundIssue[] =>
  entriesOf(APP_RULES).flatMap(([kind, rule]) => {
    const details = rule(app, now)
    return details === null ? [] : [{ kind, subject: app.appId, details }]
  })

/** Returns the finding for a person who breaks a rule of separation of duties. */
export const findingOfDuties = (
  rule: { id: string; name: string },
  userId: string,
  { left, right }: Broken,
): FoundIssue => ({
  kind: 'SEPARATION_BROKEN',
  subject: `${rule.id} ${userId}`,
  userId,
  ruleId: rule.id,
  details: { rule: rule.name, left: [...left], right: [...right] },
})
