/** What a sync makes of what a connector lists: shown in the generated reference. */
export const SYNC_RULES: readonly [about: string, rule: string][] = [
  [
    'One snapshot',
    'What is listed is written page by page; what vanished is marked only after a complete run. A run that fails, stops or is killed marks nothing; a killed one goes on at its page, on any host.',
  ],
  [
    'Status of an account',
    '`ACTIVE` → `ACTIVE` (also without a status), `SUSPENDED` → `SUSPENDED`. Only of `get_account` besides: `PENDING` → `STAGED`, `INACTIVE` → `ARCHIVED`, `DEPROVISIONED` and `DELETED` → `DEPROVISIONED`.',
  ],
  [
    'An account that left the listing',
    'is asked for by `get_account`: `not_found` or a final status → `DEPROVISIONED`; one that is there stays, with the status that was answered. Where the connector has no `get_account`: `ACCESS_REMOVED`, which is all that is known.',
  ],
  [
    'Suspiciously much vanished',
    'More than 10 and more than 30 % of the accounts, entitlements or associations there were before, or all of 3 or more: the run is `STOPPED`, nothing is marked, the app’s admins get an ERROR task. `keyway sync-accept RUN` says that they are gone; the next sync that finds them again needs nothing.',
  ],
  [
    'What is left out',
    'Ids that are empty, hold NUL or are longer than 512 (accounts) or 4096 characters; counted as `left_out`. Associations of accounts or entitlements that were not listed: `loose`.',
  ],
  [
    'Whose an account is',
    'The operator’s `match_rules` in their order (an attribute of the account and one of the user that say the same, capital letters aside, and of one user only), then the e-mail address. What somebody else has set stays.',
  ],
  [
    'Permissions',
    'Each assignable entitlement is a requestable permission of the type `SYNCED`: label `RESOURCE: ENTITLEMENT` (of the global resource `ENTITLEMENT`), hidden until an admin shows it. When the entitlement is gone it cannot be requested; when it is back it can. A label or a setting that an admin has changed stays.',
  ],
  [
    'The identity source',
    'One app at most. Its accounts of people with an e-mail address make users, or are those who have the address; address, names, status and mapped attributes follow at each sync. Who left becomes `INACTIVE`, never deleted; the last admin who can sign in keeps their status. Of several accounts of one user the active one with the smallest id counts.',
  ],
  [
    'Managers',
    'By the mapped attribute: an account’s id, or an address. Who names nobody, or themselves, has none; circles stay as they are.',
  ],
  [
    'Groups',
    'Entitlements of the chosen type, with the users of the accounts that hold them; a group whose entitlement is gone stays, empty.',
  ],
  [
    'Identity events',
    'Each member of a user that a sync of the source has changed, written with the change.',
  ],
  [
    'A listing without an end',
    'is ended with an ERROR task: more than 1000 rows and 90 % (`max_repeated_percent`) of what it brings were listed already in the run, 1000 pages in a row bring nothing new, or more than `max_rows` rows. Nothing is marked as gone.',
  ],
  [
    'Turns',
    'A host carries out two syncs at a time. One that others wait for gives its place back after a minute, at the next page; the app that has waited longest is next, on any host.',
  ],
  [
    'Cancelling',
    '`keyway sync-cancel RUN`: what it brought stays, nothing more is marked as gone, and the app has the status of the run before.',
  ],
  [
    'Failures',
    'Are tried again after 5 s, then twice as long each time up to 10 minutes, eight tries in all; credentials that are refused, and what else trying again does not help, fail at once. A page token that leads nowhere any more begins its listing again, five times at most. One ERROR task for an app, completed by its next sync that succeeds.',
  ],
]
